"""Which words bring something into the discourse: all but function words and punctuation, by a list for English.

Gibson (2000) counts nouns and verbs. A generated sentence has no tags, so what is not in a closed class is counted instead;
that is near enough to nouns, verbs, adjectives and adverbs.
"""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those each every either neither some any no all both half another other such own same
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves one ones somebody someone something anybody anyone anything
    nobody nothing everybody everyone everything who whom whose which what whoever whatever whichever
    be am is are was were been being 's 're 'm have has had having 've 'd do does did doing done
    can could may might must shall should will would 'll ca wo ought need dare used
    about above across after against along among around as at before behind below beneath beside besides between beyond
    but by despite down during except for from in inside into like near of off on onto out outside over past per since
    than through throughout till to toward towards under until unto up upon via with within without
    and or nor so yet if unless whether because although though while whereas lest once when where why how
    not n't n’t ’s ’re ’m ’ve ’d ’ll there here then just only even also too very quite rather more most less least much many
    few little several enough as well ever never again
    """.split()
)


def is_content_word(word: str) -> bool:
    """Whether a word is neither a function word nor punctuation.

    >>> [is_content_word(word) for word in ("The", "dog", "n't", "bark", ".")]
    [False, True, False, True, False]
    """
    return any(map(str.isalnum, word)) and word.lower() not in FUNCTION_WORDS
