"""What BLiMP consists of: 67 paradigms in 12 phenomena (Warstadt et al. 2020, Table 1), and how its labels are read.

A paradigm's phenomenon and field are those that its file gives (`linguistics_term`, `field`), with two repairs:

- `s-selection` (two paradigms about animate subjects) is counted as argument structure, as the table does: that makes nine.
- `principle_A_case_2` has the field `syntax/semantics` where the six others of its phenomenon have `syntax_semantics`.

Fields do not contain phenomena whole: of the seven paradigms of NPI licensing, five are `semantics`, two `syntax_semantics`.
"""

from __future__ import annotations

PARADIGMS: dict[str, tuple[str, ...]] = {
    "anaphor_agreement": ("anaphor_gender_agreement", "anaphor_number_agreement"),
    "argument_structure": (
        "animate_subject_passive",
        "animate_subject_trans",
        "causative",
        "drop_argument",
        "inchoative",
        "intransitive",
        "passive_1",
        "passive_2",
        "transitive",
    ),
    "binding": (
        "principle_A_c_command",
        "principle_A_case_1",
        "principle_A_case_2",
        "principle_A_domain_1",
        "principle_A_domain_2",
        "principle_A_domain_3",
        "principle_A_reconstruction",
    ),
    "control_raising": (
        "existential_there_object_raising",
        "existential_there_subject_raising",
        "expletive_it_object_raising",
        "tough_vs_raising_1",
        "tough_vs_raising_2",
    ),
    "determiner_noun_agreement": (
        "determiner_noun_agreement_1",
        "determiner_noun_agreement_2",
        "determiner_noun_agreement_irregular_1",
        "determiner_noun_agreement_irregular_2",
        "determiner_noun_agreement_with_adj_2",
        "determiner_noun_agreement_with_adj_irregular_1",
        "determiner_noun_agreement_with_adj_irregular_2",
        "determiner_noun_agreement_with_adjective_1",
    ),
    "ellipsis": ("ellipsis_n_bar_1", "ellipsis_n_bar_2"),
    "filler_gap_dependency": (
        "wh_questions_object_gap",
        "wh_questions_subject_gap",
        "wh_questions_subject_gap_long_distance",
        "wh_vs_that_no_gap",
        "wh_vs_that_no_gap_long_distance",
        "wh_vs_that_with_gap",
        "wh_vs_that_with_gap_long_distance",
    ),
    "irregular_forms": ("irregular_past_participle_adjectives", "irregular_past_participle_verbs"),
    "island_effects": (
        "adjunct_island",
        "complex_NP_island",
        "coordinate_structure_constraint_complex_left_branch",
        "coordinate_structure_constraint_object_extraction",
        "left_branch_island_echo_question",
        "left_branch_island_simple_question",
        "sentential_subject_island",
        "wh_island",
    ),
    "npi_licensing": (
        "matrix_question_npi_licensor_present",
        "npi_present_1",
        "npi_present_2",
        "only_npi_licensor_present",
        "only_npi_scope",
        "sentential_negation_npi_licensor_present",
        "sentential_negation_npi_scope",
    ),
    "quantifiers": (
        "existential_there_quantifiers_1",
        "existential_there_quantifiers_2",
        "superlative_quantifiers_1",
        "superlative_quantifiers_2",
    ),
    "subject_verb_agreement": (
        "distractor_agreement_relational_noun",
        "distractor_agreement_relative_clause",
        "irregular_plural_subject_verb_agreement_1",
        "irregular_plural_subject_verb_agreement_2",
        "regular_plural_subject_verb_agreement_1",
        "regular_plural_subject_verb_agreement_2",
    ),
}
ALL_PARADIGMS = frozenset(name for names in PARADIGMS.values() for name in names)

PHENOMENON_OF_TERM = {"s-selection": "argument_structure"}
FIELD_OF_LABEL = {"syntax/semantics": "syntax_semantics"}
TITLES = {
    "control_raising": "control/raising",
    "determiner_noun_agreement": "determiner-noun agreement",
    "filler_gap_dependency": "filler-gap dependency",
    "npi_licensing": "NPI licensing",
    "subject_verb_agreement": "subject-verb agreement",
    "syntax_semantics": "syntax/semantics",
}


def title(name: str) -> str:
    """A phenomenon's or field's name as one writes it in a table or picture."""
    return TITLES.get(name, name.replace("_", " "))
