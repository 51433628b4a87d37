
BEGIN {
  given["gpu"] = cards
  count = split(parts, pairs, ",")
  for (i = 1; i <= count; i++) {
    at = index(pairs[i], ":")
    name = substr(pairs[i], 1, at - 1)
    sub(/@.*/, "", name)
    given[name] = given[name] (name in given && given[name] != "" ? "," : "") substr(pairs[i], at + 1)
  }
}

FILENAME != ARGV[2] || ARGV[1] == ARGV[2] {
  for (i = 1; i <= NF; i++) names[$i] = 1
  next
}

{ print replaced($0) }

function replaced(line, out, at, close_at, name) {
  out = ""
  while ((at = index(line, "{")) > 0) {
    close_at = index(substr(line, at), "}")
    name = substr(line, at + 1, close_at - 2)
    if (close_at > 2 && (name in names) && !is_after_dollar(out substr(line, 1, at - 1))) {
      out = out substr(line, 1, at - 1) given[name]
      line = substr(line, at + close_at)
    } else {
      out = out substr(line, 1, at)
      line = substr(line, at + 1)
    }
  }
  return out line
}

function is_after_dollar(text) {
  return substr(text, length(text)) == "$"
}
