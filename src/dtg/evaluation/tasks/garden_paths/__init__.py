"""Garden paths: how much more surprising a word is where it comes as a surprise than where it does not."""
