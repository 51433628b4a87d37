# Completes the question with the claims of all accounts. Besides facts, a slot gives these lines:
#   /<path>                          the file of a claim
#   old <7 words> <batch>            the claim of a slot of an older spool
#   gpu <words as "card">            a card as measured
#   proc <uuid> <MB> <uid> <pids>    a process on a card, with the groups and sessions of its ancestors
#   used <pid> <MB>                  the memory of the processes below a loop
# Given: own_uid, own_pid, the loop of this slot; owners, " <directory>=<owner> …", with "-" for this account.

function read_line() {
  if ($0 ~ /^\//) read_claim_file($0)
  else if ($1 == "gpu") measured_card[++measured_cards] = substr($0, 5)
  else if ($1 == "proc") process[++processes] = $0
  else if ($1 == "used") resident[$2] = $3
  else if ($1 == "old") take_old()
  else take_fact()
}

# After the last line: processes belong to claims, and cards depend on both.
function settle(   i) {
  for (i = 1; i <= processes; i++) settle_process(process[i])
  for (i = 1; i <= measured_cards; i++) find_disagreement(measured_card[i])
  for (i = 1; i <= files; i++) take_claim(i)
  for (i = 1; i <= measured_cards; i++) take_card(measured_card[i])
}

function give_fact(text) {
  $0 = text
  take_fact()
}

# The last line shows that a claim is whole. getline, because awk itself may end at a file that it cannot read.
function read_claim_file(path,   text, line, lines) {
  lines = 0
  while (lines < 100 && (getline text < path) > 0) line[++lines] = text
  close(path)
  if (lines < 2 || line[lines] != "end" || !is_claim(line[1])) return
  files++
  file_owner[files] = owner_of(path)
  file_by[files] = "- - 0"
  file_on[files] = file_has[files] = ""
  for (lines--; lines > 1; lines--) keep_line(line[lines])
}

function is_claim(text,   words) {
  if (split(text, words, " ") != 7 || text ~ /\t|  |^ | $/ || !is_amount(words[1]) || !is_amount(words[3])) return 0
  if (!is_fraction(words[2]) || !is_fraction(words[4]) || words[5] words[6] !~ /^[01][01]$/) return 0
  file_head[files + 1] = words[1] " " int(words[2] * 1000 + 0.5) " " words[6]
  return 1
}

# As in claim/read-claim.sh.
function is_amount(word) {
  return word ~ /^(0|[1-9][0-9]*)$/ && length(word) <= 9
}

function is_fraction(word) {
  return word ~ /^[0-9]+(\.[0-9]+)?$/ && length(word) <= 15
}

# From the last line to the first. Lines of another form are skipped, because later versions may add some.
function keep_line(text,   words, count) {
  if (text ~ /\t|  |^ | $/) return
  count = split(text, words, " ")
  if (words[1] == "by" && count == 4 && file_by[files] == "- - 0" && is_number(words[4])) {
    sub(/^0+/, "", words[3])
    file_by[files] = plain(words[2]) " " (words[3] == "" ? "-" : plain(words[3])) " " words[4]
    file_of[words[4]] = files
  } else if (words[1] == "on" && count == 5) file_on[files] = file_on[files] "\n" substr(text, 4)
  else if (words[1] == "has" && count == 4) file_has[files] = file_has[files] "\n" substr(text, 5)
}

# Any other name would void the claim.
function plain(word) {
  gsub(/[^A-Za-z0-9._@%+-]/, "?", word)
  return substr(word, 1, 255)
}

function owner_of(path,   at) {
  sub(/\/[^\/]*$/, "", path)
  at = index(owners, " " path "=")
  if (at == 0) return "?"
  path = substr(owners, at + length(path) + 2)
  sub(/ .*/, "", path)
  return plain(path)
}

# old <MB> <cores> <MB on each card> <share> <1 if the cards are its own> <1 if it has the machine> <cards> <batch>
function take_old(   words, uuid, count, i, id) {
  split($0, words, " ")
  id = "old" ++olds
  give_fact("claim " id " - " plain(words[9]) " - " words[2] " " int(words[3] * 1000 + 0.5) " " words[7] " 1")
  count = words[8] == "-" ? 0 : split(words[8], uuid, ",")
  for (i = 1; i <= count; i++)
    give_fact("on " id " " uuid[i] " " words[4] " " int(words[5] * 1000 + 0.5) " " words[6] * 1000 " 0")
}

# A process below the loop of a claim is that claim's. Any other is foreign; one of another account is a person's.
function settle_process(text,   words, pids, count, i) {
  split(text, words, " ")
  on_card[words[2]] += words[3]
  count = split(words[5], pids, ",")
  for (i = 1; i <= count; i++) {
    if (pids[i] in file_of) used_on[file_of[pids[i]], words[2]] += words[3]
    if (pids[i] in file_of || pids[i] == own_pid) { explained[words[2]] += words[3]; return }
  }
  is_foreign[words[2]] = 1
  if (words[4] != own_uid) is_persons[words[2]] = 1
  else own_mb[words[2]] += words[3]
}

# The driver lists processes a moment after memory. If they use more than was missing, a job has grown in between, and the rest of
# what it declared must not count as free.
function find_disagreement(text,   words) {
  split(text, words, " ")
  if (words[4] != "-" && words[5] != "-" && on_card[words[2]] > words[4] - words[5]) disagrees[words[2]] = 1
}

# A claim counts as in use: its job starts a moment after it is made.
function take_claim(n,   by, each, count, i, words, used) {
  split(file_by[n], by, " ")
  used = (by[3] in resident) && by[3] != 0 ? resident[by[3]] : 1
  give_fact("claim c" n " " file_owner[n] " " by[1] " " by[2] " " file_head[n] " " used)
  count = split(substr(file_on[n], 2), each, "\n")
  for (i = 1; i <= count; i++) {
    split(each[i], words, " ")
    claimed_mb[words[1]] += words[2]
    give_fact("on c" n " " each[i] " " ((words[1] in disagrees) ? 0 : used_on[n, words[1]] + 0))
  }
  count = split(substr(file_has[n], 2), each, "\n")
  for (i = 1; i <= count; i++) give_fact("has c" n " " each[i])
}

# Memory in use that neither processes nor claims explain is a foreign process, too: containers hide processes, and those on
# AMD cards are not listed. It may be another person's. A driver holds less than 600 MB on a card that no process uses.
function take_card(text,   words, unknown, flags) {
  split(text, words, " ")
  if (words[4] != "-" && words[5] != "-") {
    unknown = words[4] - words[5] - \
      (explained[words[2]] > claimed_mb[words[2]] ? explained[words[2]] : claimed_mb[words[2]] + 0)
    if (unknown > 600) is_foreign[words[2]] = 1
    if (unknown - own_mb[words[2]] > 600) is_persons[words[2]] = 1
  }
  flags = words[7] (words[2] in is_foreign ? "f" : "") (words[2] in is_persons ? "o" : "")
  if (length(flags) > 1) sub(/^-/, "", flags)
  give_fact("card " words[1] " " words[2] " " words[3] " " words[4] " " words[5] " " words[6] " " flags " " words[8])
}
