# Reads the question. Claims are text of other accounts: a line of another form is ignored, and counted.

BEGIN {
  # In thousandths of cores, and of a card's computing. Few jobs use all that they ask for.
  CPU_OVERLOAD = 2000
  MOST_USE = 1200
  max_jobs = memory_free = cores_all = cores_busy = ""
  keep_mb = keep_cores = keep_cards = 0
  cards = instances = claims = ons = holds = needs = wants = ignored = 0
}

function take_fact() {
  if ($0 ~ /\t|  |^ | $/) ignored++
  else if ($1 == "batch" && NF == 2 && is_name($2)) { batch = $2 "" }
  else if ($1 == "batch" && NF == 3 && is_name($2) && is_name($3)) { batch = $2 ""; account = $3 "" }
  else if ($1 == "rule" && NF == 2 && ($2 == "pack" || $2 == "polite")) { rule[$2] = 1 }
  else if ($1 == "mem" && NF == 2 && is_maybe($2)) { memory_free = maybe($2) }
  else if ($1 == "cpu" && NF == 3 && is_maybe($2) && is_maybe($3)) { cores_all = maybe($2); cores_busy = maybe($3) }
  else if ($1 == "keep" && NF == 4 && are_numbers(2, 4)) { keep_mb = $2 + 0; keep_cores = $3 + 0; keep_cards = $4 + 0 }
  else if ($1 == "jobs" && NF == 2 && is_maybe($2)) { max_jobs = maybe($2) }
  else if ($1 == "card" && NF == 9 && is_number($2) && is_device($3) && !(($3 "") in card_of) && is_name($4) && is_maybe($5) && \
    is_maybe($6) && is_maybe($7) && $8 ~ /^(-|[esmtfobx]+)$/ && is_device($9)) note_card()
  else if ($1 == "res" && NF == 4 && is_name($2) && is_name($3) && is_number($4) && !(($2 " " $3) in instance_of)) note_resource()
  else if ($1 == "claim" && NF == 9 && is_name($2) && !(($2 "") in claim_of) && is_name($3) && is_name($4) && is_name($5) && \
    is_number($6) && is_number($7) && $8 ~ /^[01]$/ && is_maybe($9)) note_claim()
  else if ($1 == "on" && NF == 7 && (($2 "") in claim_of) && is_device($3) && are_numbers(4, 6) && is_maybe($7)) note_use()
  else if ($1 == "has" && NF == 5 && (($2 "") in claim_of) && is_name($3) && is_name($4) && is_number($5)) note_part()
  else if ($1 == "need" && NF == 6 && are_numbers(4, 5) && $6 ~ /^[01]$/) note_need()
  else if ($1 == "cards" && NF == 9 && needs > 0 && !(needs in need_cards) && need_kind[needs] == $2 "" && are_numbers(3, 6) && \
    $3 + $4 > 0 && $4 < 1000 && $7 ~ /^[01]$/ && is_list($8) && $9 ~ /^[01]$/) note_cards()
  else if ($1 == "wants" && NF == 4 && needs > 0 && need_kind[needs] == $2 "" && is_name($3) && !((needs, $3) in is_wanted) && \
    $4 ~ /^[0-9]+(,[0-9]+)*$/ && are_amounts($4)) note_wants()
  else ignored++
}

function note_card(   at) {
  card_of[$3 ""] = ++cards
  card_index[cards] = $2 + 0
  card_uuid[cards] = $3 ""
  card_maker[cards] = $4 ""
  card_total[cards] = maybe($5)
  card_free[cards] = maybe($6)
  card_use[cards] = maybe($7)
  for (at = 1; at <= length($8); at++) flag[cards, substr($8, at, 1)] = 1
  # A card without a group is alone in one. No group of the question contains a blank.
  card_group[cards] = $9 == "-" ? " " cards : $9 ""
}

function note_resource() {
  instance_of[$2 " " $3] = ++instances
  instance_name[instances] = $3 ""
  instance_resource[instances] = $2 ""
  capacity[instances] = $4 + 0
}

function note_claim() {
  claim_of[$2 ""] = ++claims
  claim_owner[claims] = $3 ""
  claim_batch[claims] = $4 ""
  claim_job[claims] = $5 ""
  claim_mb[claims] = $6 + 0
  claim_cores[claims] = $7 + 0
  claim_machine[claims] = $8 + 0
  claim_used[claims] = maybe($9)
}

function note_use() {
  on_claim[++ons] = claim_of[$2 ""]
  on_uuid[ons] = $3 ""
  on_mb[ons] = $4 + 0
  on_share[ons] = $5 + 0
  on_amount[ons] = $6 + 0
  on_used[ons] = maybe($7)
}

function note_part() {
  hold_claim[++holds] = claim_of[$2 ""]
  hold_instance[holds] = $3 " " $4
  hold_amount[holds] = $5 + 0
  is_of_queue[holds] = $3 ~ /@/
}

function note_need() {
  need_key[++needs] = $2 ""
  need_kind[needs] = $3 ""
  need_mb[needs] = $4 + 0
  need_cores[needs] = $5 + 0
  need_machine[needs] = $6 + 0
  first_want[needs] = wants + 1
  last_want[needs] = wants
}

function note_cards() {
  need_cards[needs] = $3 + ($4 > 0)
  # A job that has the machine gets whole cards.
  whole[needs] = need_machine[needs] ? need_cards[needs] : $3 + 0
  part[needs] = need_machine[needs] ? 0 : $4 + 0
  need_milli[needs] = $3 * 1000 + $4
  card_mb[needs] = $5 + 0
  card_share[needs] = $6 + 0
  is_alone[needs] = $7 + 0
  is_listed[needs] = $9 + 0
  candidates[needs] = $8 ""
  # Shared jobs are packed while another job waits for cards of its own.
  if ($3 > 0 && $7 == 1) wants_alone = 1
}

function note_wants() {
  is_wanted[needs, $3] = 1
  want_name[++wants] = $3 ""
  want_amounts[wants] = $4 ""
  last_want[needs] = wants
}

# Below 10^12, so that sums are exact.
function is_number(word) {
  return word ~ /^[0-9]+$/ && length(word) <= 12
}

function are_numbers(from, to,   at) {
  for (at = from; at <= to; at++) if (!is_number($at)) return 0
  return 1
}

function are_amounts(words,   list, count, at) {
  count = split(words, list, ",")
  for (at = 1; at <= count; at++) if (!is_number(list[at])) return 0
  return 1
}

# "-": unknown or none, here "".
function is_maybe(word) {
  return word == "-" || is_number(word)
}

function maybe(word) {
  return word == "-" ? "" : word + 0
}

function is_name(word) {
  return word ~ /^[A-Za-z0-9._@%+?-]+$/ && length(word) <= 255
}

# Names of MIG slices can have slashes, and those of AMD cards colons.
function is_device(word) {
  return word ~ /^[A-Za-z0-9._@%+?\/:-]+$/ && length(word) <= 255
}

function is_list(word) {
  return word == "*" || word ~ /^[A-Za-z0-9._@%+?\/:,-]+$/
}
