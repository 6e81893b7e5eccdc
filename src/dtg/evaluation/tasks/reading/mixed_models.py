"""An R script that fits a mixed model to the times of single participants, with the tables that are written beside it."""

from __future__ import annotations

from collections.abc import Sequence

from dtg.evaluation.tasks.reading.predictors import CONTROLS, LAGS, POSITION, SURPRISAL

SCRIPT = """\
# Mixed models of the times of single participants, with lme4: what surprisal explains beyond the controls.
#
#   Rscript mixed_model.R            (needs R and lme4: install.packages("lme4"))
#
# Written by dtg {version} for {name}. words.csv has the predictors of each word, readings.csv the times of each
# participant. Edit what you like: predictors, random effects, which words are left out.

library(lme4)

words <- read.csv("words.csv", na.strings = "", encoding = "UTF-8", colClasses = c(story = "character", sentence = "character"))
readings <- read.csv("readings.csv", na.strings = "", encoding = "UTF-8",
                     colClasses = c(participant = "character", story = "character", sentence = "character"))

predictors <- c({predictors})
columns <- c({columns})  # of the model

# The words before (spill-over), within the same text.
text <- {text}
before <- function(values, lag) {{
  n <- length(values)
  moved <- c(rep(NA, lag), values[seq_len(n - lag)])
  same <- c(rep(FALSE, lag), text[seq_len(n - lag)] == text[-seq_len(lag)])
  ifelse(same, moved, NA)
}}
for (name in c(predictors, columns)) for (lag in 1:{lags}) words[[paste0(name, "_", lag)]] <- before(words[[name]], lag)
words$word_key <- seq_len(nrow(words))

d <- merge(readings, words[, setdiff(names(words), c("time", "word"))], by = c("story", "sentence", "position"))
d <- d[d$excluded == 0{ends}, ]
d$y <- {outcome}
with_lags <- function(names) unlist(lapply(names, function(name) c(name, paste0(name, "_", 1:{lags}))))
terms <- c("{position}", with_lags(predictors), with_lags(columns))
d <- d[complete.cases(d[, c("y", terms)]), ]
for (name in terms) if (sd(d[[name]]) > 0) d[[name]] <- as.numeric(scale(d[[name]]))  # in standard deviations
constant <- terms[sapply(terms, function(name) sd(d[[name]]) == 0)]
terms <- setdiff(terms, constant)

random <- "(1 + surprisal || participant) + (1 | word_key)"
baseline <- setdiff(terms, with_lags(columns))
formula_of <- function(terms) as.formula(paste("y ~", paste(c(terms, random), collapse = " + ")))
control <- lmerControl(optimizer = "bobyqa", calc.derivs = FALSE)
without <- lmer(formula_of(baseline), d, REML = FALSE, control = control)
full <- lmer(formula_of(c(baseline, intersect(with_lags("surprisal"), terms))), d, REML = FALSE, control = control)
print(summary(full), correlation = FALSE)
print(anova(without, full))
if (length(columns) > 1) {{
  all <- lmer(formula_of(terms), d, REML = FALSE, control = control)
  print(anova(full, all))
}}
"""


def mixed_model_script(
    name: str, version: str, columns: Sequence[str], *, is_log: bool, across_sentences: bool, without_ends: bool
) -> str:
    """The script, ready to run in the folder of the tables."""
    quoted = [", ".join(f'"{one}"' for one in names) for names in (CONTROLS, (SURPRISAL, *columns))]
    return SCRIPT.format(
        version=version,
        name=name,
        predictors=quoted[0],
        columns=quoted[1],
        text="words$story" if across_sentences else 'paste(words$story, words$sentence, sep = "\\t")',
        lags=LAGS,
        position=POSITION,
        ends=" & d$sentence_end == 0" if without_ends else "",
        outcome="log(d$time)" if is_log else "d$time",
    )
