# Surprisal and what goes with it, from R: one file, which needs R's package reticulate and a Python that has dtg.
#
#   source("dtg.R")
#   words <- dtg_surprisal(stimuli, column = "sentence", model = "dtg-small")
#
# Python is found by reticulate: reticulate::use_python("/path/to/.venv/bin/python") or the variable RETICULATE_PYTHON names the one
# that dtg is installed in; where neither is set, newer versions of reticulate (1.41) make an environment with dtg in it. dtg then runs
# in a process of its own, not inside R: R brings its own linear algebra along, which is slower and rounds differently. So the numbers
# are those of the command `dtg surprisal`. docs/r.md has an example that ends in a mixed model.

# The Python that dtg is installed in.
dtg_python <- function() {
  if (!requireNamespace("reticulate", quietly = TRUE)) {
    stop("dtg.R needs the R package reticulate: install.packages(\"reticulate\")", call. = FALSE)
  }
  python <- Sys.getenv("RETICULATE_PYTHON")
  if (python == "" && "py_require" %in% getNamespaceExports("reticulate")) {
    getExportedValue("reticulate", "py_require")("dtg")
    python <- reticulate::py_config()$python
  }
  if (python == "") python <- reticulate::py_discover_config("dtg")$python
  there <- !is.null(python) && suppressWarnings(system2(python, c("-c", shQuote("import dtg")), stdout = FALSE, stderr = FALSE)) == 0
  if (!there) {
    stop("the Python that reticulate finds (", python, ") has no dtg. Name the one that dtg is installed in, before anything else: ",
         "Sys.setenv(RETICULATE_PYTHON = \"/path/to/.venv/bin/python\")", call. = FALSE)
  }
  python
}

# A command of dtg; what it says while it works is shown, and an error is one of R's.
dtg_run <- function(...) {
  status <- system2(dtg_python(), c("-m", "dtg", shQuote(c(...))))
  if (status != 0) stop("dtg ", ..1, " failed; what it said is above.", call. = FALSE)
  invisible(NULL)
}

# A row for each word of each sentence: surprisal and the other columns of docs/surprisal.md, then the columns of `data`.
#
# data      a data frame with a row for each sentence, or a character vector of sentences
# column    the column of the sentences
# model     the name of a bundled model or the folder of a trained one; several give rows for each of them
# accuracy  of the search: "fast", "default" or "high"; the command's default if neither this nor beam is given
# beam      a beam of fixed width instead; larger is slower and loses less
# per       "whitespace" for a row for each word between spaces, "word" for a row for each syntactic word
# base      "2" for bits, "e" for nats
# boundary  "next" or "own": the word whose surprisal contains that a word is over
# columns   more columns, such as c("reductions", "integration_cost"), or "all"
# end       a row for the end of each sentence, too
dtg_surprisal <- function(data, column = "sentence", model = "dtg-small", accuracy = NULL, beam = NULL, per = "whitespace",
                          base = "2", boundary = "next", columns = character(), end = FALSE) {
  if (is.character(data)) data <- stats::setNames(data.frame(data, stringsAsFactors = FALSE), column)
  if (!is.data.frame(data)) {
    stop("data must be a data frame with a row for each sentence, or a character vector of sentences.", call. = FALSE)
  }
  if (!column %in% names(data)) {
    stop("data has no column ", column, ". It has: ", paste(names(data), collapse = ", "), ".", call. = FALSE)
  }
  folder <- tempfile("dtg")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  input <- file.path(folder, "sentences.csv")
  output <- file.path(folder, "words.csv")
  texts <- enc2utf8(as.character(data[[column]]))
  texts[is.na(texts)] <- ""  # rows without a sentence have no words, and are counted
  quoted <- paste0("\"", gsub("\"", "\"\"", texts, fixed = TRUE), "\"")
  writeLines(c("dtg_sentence", quoted), input, useBytes = TRUE)
  search <- c(if (!is.null(accuracy)) c("--accuracy", accuracy), if (!is.null(beam)) c("--beam", format(beam, scientific = FALSE)))
  more <- c(if (length(columns)) c("--columns", paste(columns, collapse = ",")), if (end) "--end")
  dtg_run("surprisal", input, "--column", "dtg_sentence", rbind("--model", model), search, "--per", per,
          "--base", base, "--boundary", boundary, more, "--out", output)
  found <- utils::read.csv(output, na.strings = "", encoding = "UTF-8", check.names = FALSE, stringsAsFactors = FALSE,
                           colClasses = c(word = "character", whitespace_word = "character", model = "character"))
  found$dtg_sentence <- NULL
  carried <- data[found$sentence_id, , drop = FALSE]
  renamed <- names(carried) %in% names(found)
  names(carried)[renamed] <- paste0("input_", names(carried)[renamed])
  rownames(carried) <- NULL
  cbind(found, carried)
}
