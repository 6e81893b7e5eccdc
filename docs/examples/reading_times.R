# Reading times and surprisal in R. The same as reading_times.py, and a mixed model where lme4 is installed.
#
#   dtg surprisal items.txt --model run/best --out items.csv --per whitespace
#   Rscript reading_times.R items.csv times.csv
#
# times.csv has the columns participant, sentence_id, word_id, word and time (in ms). Without it, times are made up.

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) < 1) stop("usage: Rscript reading_times.R items.csv [times.csv]", call. = FALSE)

# Only an empty field is missing: the word NA occurs in texts.
read <- function(path) read.csv(path, na.strings = "", encoding = "UTF-8", stringsAsFactors = FALSE)

words <- read(arguments[1])
words$word <- as.character(words$word)
if (!identical(words$word, as.character(words$whitespace_word))) {
  stop(arguments[1], " is not by whitespace words; make it with: dtg surprisal ... --per whitespace", call. = FALSE)
}
words$length <- nchar(words$word)

# The word before, within its sentence; the first word of a sentence has none.
words <- words[order(words$sentence_id, words$word_id), ]
before <- function(values) ave(values, words$sentence_id, FUN = function(v) c(NA, head(v, -1)))
words$previous_surprisal <- before(words$surprisal)
words$previous_length <- before(words$length)

make_up_times <- function(words, participants = 20) {
  set.seed(0)
  zero <- function(values) ifelse(is.na(values), 0, values)
  mean <- 200 + 4 * words$surprisal + 2.5 * zero(words$previous_surprisal) + 6 * words$length + 1.5 * zero(words$previous_length)
  one <- function(number) data.frame(
    participant = sprintf("p%02d", number), words[, c("sentence_id", "word_id", "word")],
    time = mean + rnorm(1, 0, 30) + rnorm(nrow(words), 0, 60)
  )
  do.call(rbind, lapply(seq_len(participants), one))
}
times <- if (length(arguments) > 1) read(arguments[2]) else make_up_times(words)

joined <- merge(times, words, by = c("sentence_id", "word_id"), suffixes = c("", "_in_items"), all.x = TRUE)
different <- is.na(joined$word_in_items) | as.character(joined$word) != joined$word_in_items
if (any(different)) {
  first <- joined[different, ][1, ]
  stop(
    sum(different), " times are of other words than the items': the first is of '", first$word, "', which is '", first$word_in_items,
    "' in items.csv (sentence ", first$sentence_id, ", word ", first$word_id, ").", call. = FALSE
  )
}

observed <- joined[complete.cases(joined[, c("time", "surprisal", "previous_surprisal", "previous_length")]), ]
count <- function(number) format(number, big.mark = ",")
cat(count(nrow(observed)), "times;", count(nrow(joined) - nrow(observed)), "left out (first words of sentences, or no time)\n")

# An intercept for each participant, as in the Python script.
several <- length(unique(observed$participant)) > 1
without <- lm(time ~ length + previous_length, data = observed)
if (several) without <- update(without, . ~ . + factor(participant))
fit <- update(without, . ~ . + surprisal + previous_surprisal)
print(summary(fit)$coefficients[c("surprisal", "previous_surprisal", "length", "previous_length"), ])
cat("log-likelihood gained by surprisal:", as.numeric(logLik(fit) - logLik(without)), "nats\n")

if (!several) {
  cat("there is one participant, so no mixed model is fitted\n")
} else if (requireNamespace("lme4", quietly = TRUE)) {
  mixed <- lme4::lmer(
    time ~ surprisal + previous_surprisal + length + previous_length + (1 + surprisal | participant) + (1 | sentence_id),
    data = observed, REML = FALSE
  )
  print(summary(mixed))
} else {
  cat("lme4 is not installed, so no mixed model is fitted; install.packages(\"lme4\")\n")
}
