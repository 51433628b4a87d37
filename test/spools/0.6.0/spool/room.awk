

function read_line() {
  if ($0 ~ /^\//) read_claim_file($0)
  else if ($1 == "gpu") measured_card[++measured_cards] = substr($0, 5)
  else if ($1 == "proc") process[++processes] = $0
  else if ($1 == "used") resident[$2] = $3
  else if ($1 == "old") take_old()
  else take_fact()
}

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

function is_amount(word) {
  return word ~ /^(0|[1-9][0-9]*)$/ && length(word) <= 9
}

function is_fraction(word) {
  return word ~ /^[0-9]+(\.[0-9]+)?$/ && length(word) <= 15
}

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

function take_old(   words, uuid, count, i, id) {
  split($0, words, " ")
  id = "old" ++olds
  give_fact("claim " id " - " plain(words[9]) " - " words[2] " " int(words[3] * 1000 + 0.5) " " words[7] " 1")
  count = words[8] == "-" ? 0 : split(words[8], uuid, ",")
  for (i = 1; i <= count; i++)
    give_fact("on " id " " uuid[i] " " words[4] " " int(words[5] * 1000 + 0.5) " " words[6] * 1000 " 0")
}

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

function find_disagreement(text,   words) {
  split(text, words, " ")
  if (words[4] != "-" && words[5] != "-" && on_card[words[2]] > words[4] - words[5]) disagrees[words[2]] = 1
}

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


BEGIN {
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
  whole[needs] = need_machine[needs] ? need_cards[needs] : $3 + 0
  part[needs] = need_machine[needs] ? 0 : $4 + 0
  need_milli[needs] = $3 * 1000 + $4
  card_mb[needs] = $5 + 0
  card_share[needs] = $6 + 0
  is_alone[needs] = $7 + 0
  is_listed[needs] = $9 + 0
  candidates[needs] = $8 ""
  if ($3 > 0 && $7 == 1) wants_alone = 1
}

function note_wants() {
  is_wanted[needs, $3] = 1
  want_name[++wants] = $3 ""
  want_amounts[wants] = $4 ""
  last_want[needs] = wants
}

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

function is_maybe(word) {
  return word == "-" || is_number(word)
}

function maybe(word) {
  return word == "-" ? "" : word + 0
}

function is_name(word) {
  return word ~ /^[A-Za-z0-9._@%+?-]+$/ && length(word) <= 255
}

function is_device(word) {
  return word ~ /^[A-Za-z0-9._@%+?\/:-]+$/ && length(word) <= 255
}

function is_list(word) {
  return word == "*" || word ~ /^[A-Za-z0-9._@%+?\/:,-]+$/
}


function make_now(world,   c, o, i, running, idle) {
  make_bare(world)
  running = idle = 0
  for (c = 1; c <= claims; c++) {
    if (claimed[world] == "") claimed[world] = holder_of(c)
    if (claim_machine[c] && reserved[world] == "") reserved[world] = holder_of(c)
    if (account == "" || claim_owner[c] == account) jobs[world]++
    spend_memory(world, at_least_0(claim_mb[c] - claim_used[c]))
    if (claim_used[c] == "" || claim_used[c] > 0) running += claim_cores[c]
    else idle += claim_cores[c]
  }
  if (cores[world] != "") cores[world] -= (running > cores_busy ? running : cores_busy) + idle
  for (o = 1; o <= ons; o++) if (on_uuid[o] in card_of)
    use_card(world, card_of[on_uuid[o]], at_least_0(on_mb[o] - on_used[o]), on_share[o], on_amount[o], is_ours(on_claim[o]))
  for (i = 1; i <= holds; i++) if ((hold_instance[i] in instance_of) && is_counted(i))
    left[world, instance_of[hold_instance[i]]] -= hold_amount[i]
}

function make_empty(world,   c, o, card, running) {
  make_bare(world)
  running = 0
  for (c = 1; c <= claims; c++) {
    spend_memory(world, -used_at_most(claim_used[c], claim_mb[c]))
    if (claim_used[c] == "" || claim_used[c] > 0) running += claim_cores[c]
  }
  if (cores[world] != "") cores[world] -= at_least_0(cores_busy - running)
  for (o = 1; o <= ons; o++) {
    if (!(on_uuid[o] in card_of)) continue
    card = card_of[on_uuid[o]]
    spend_card_memory(world, card, -used_at_most(on_used[o], on_mb[o]))
    share[world, card] = at_least_0(share[world, card] - on_share[o])
  }
}

function make_bare(world,   card, i) {
  reserved[world] = claimed[world] = ""
  jobs[world] = has_keeps[world] = 0
  memory[world] = memory_free == "" ? "" : memory_free - keep_mb
  cores[world] = cores_all == "" || cores_busy == "" ? "" : cores_all - keep_cores
  for (card = 1; card <= cards; card++) {
    free[world, card] = card_free[card]
    share[world, card] = ((card, "f") in flag) ? card_use[card] + 0 : 0
    for (i = 0; i <= 1; i++) on[world, card, i] = alone[world, card, i] = amount[world, card, i] = 0
  }
  for (i = 1; i <= instances; i++) left[world, i] = capacity[i]
}

function copy_world(from, to,   card, i) {
  reserved[to] = reserved[from]
  claimed[to] = claimed[from]
  jobs[to] = jobs[from]
  has_keeps[to] = has_keeps[from]
  memory[to] = memory[from]
  cores[to] = cores[from]
  for (card = 1; card <= cards; card++) {
    free[to, card] = free[from, card]
    share[to, card] = share[from, card]
    for (i = 0; i <= 1; i++) {
      on[to, card, i] = on[from, card, i]
      alone[to, card, i] = alone[from, card, i]
      amount[to, card, i] = amount[from, card, i]
    }
  }
  for (i = 1; i <= instances; i++) left[to, i] = left[from, i]
}

function take(need, world,   p) {
  has_keeps[world] = 1
  claimed[world] = "kept"
  if (need_machine[need]) reserved[world] = "kept"
  spend_memory(world, need_mb[need])
  if (cores[world] != "") cores[world] -= need_cores[need]
  for (p = 1; p <= picks; p++) use_card(world, pick_card[p], card_mb[need], pick_share[p], pick_amount[p], 1)
  for (p = 1; p <= gots; p++) left[world, got_instance[p]] -= got_amount[p]
}

function use_card(world, card, mb, its_share, its_amount, ours) {
  spend_card_memory(world, card, mb)
  share[world, card] += its_share
  on[world, card, ours]++
  amount[world, card, ours] += its_amount
  if (its_amount >= 1000) alone[world, card, ours]++
}

function spend_card_memory(world, card, mb,   other) {
  if ((card, "s") in flag) spend_memory(world, mb)
  for (other = 1; other <= cards; other++)
    if (free[world, other] != "" && card_group[other] == card_group[card]) free[world, other] -= mb
}

function spend_memory(world, mb) {
  if (memory[world] != "") memory[world] -= mb
}

function used_at_most(used, declared) {
  return used == "" ? declared : used
}

function is_counted(hold) {
  return !is_of_queue[hold] || account == "" || claim_owner[hold_claim[hold]] == account
}

function is_ours(claim) {
  return claim_batch[claim] == batch && (account == "" || claim_owner[claim] == account)
}

function holder_of(claim) {
  return claim_owner[claim] ":" claim_batch[claim]
}


function refusal(need, world, card, its_amount, its_share, for_itself,   why) {
  if ((card, "x") in flag) return "excluded"
  if ((card, "b") in flag) return "bad"
  if (((card, "m") in flag) && need_cards[need] > 1 && !(is_listed[need] && ((card, "t") in flag))) return "slice"
  if (is_listed[need] && on[world, card, 1] >= listed_times[card]) return "listed"
  if (("polite" in rule) && ((card, "o") in flag)) return "person"
  why = taken_by(need, world, card, for_itself || ((card, "e") in flag))
  if (why != "") return why
  if (((card, "e") in flag) && ((card, "f") in flag)) return "exclusive"
  why = memory_refusal(need, world, card)
  if (why != "") return why
  if (!is_listed[need] && is_over(its_share, MOST_USE - share[world, card], world))
    return "use:" whole_number(its_share) ":" whole_number(share[world, card])
  if (is_over(its_amount, 1000 - sum_of(amount, need, world, card), world))
    return "amount:" whole_number(its_amount) ":" whole_number(at_least_0(1000 - sum_of(amount, need, world, card)))
  return ""
}

function taken_by(need, world, card, for_itself,   o, c) {
  if (sum_of(alone, need, world, card) == 0 && !(for_itself && sum_of(on, need, world, card) > 0)) return ""
  for (o = 1; o <= ons; o++) {
    c = on_claim[o]
    if (on_uuid[o] != card_uuid[card] || !(for_itself || on_amount[o] >= 1000) || is_listed[need] && is_ours(c)) continue
    return "taken:" holder_of(c) ":" claim_job[c]
  }
  return "taken:-:-:-"
}

function sum_of(counts, need, world, card) {
  return counts[world, card, 0] + (is_listed[need] ? 0 : counts[world, card, 1])
}

function memory_refusal(need, world, card,   room) {
  room = free[world, card]
  if (room == "") return ((card, "s") in flag) || ((card, "t") in flag) ? "" : "unknown"
  if (!is_over(card_mb[need], room, world)) return ""
  return "memory:" whole_number(card_mb[need]) ":" whole_number(at_least_0(room)) ":" \
    (card_total[card] == "" ? "-" : whole_number(card_total[card]))
}

function is_idle(world, card) {
  return !((card, "f") in flag) && on[world, card, 0] + on[world, card, 1] == 0
}

function spare_cards(world,   card, usable, idle, kept) {
  usable = idle = 0
  for (card = 1; card <= cards; card++) {
    if (((card, "x") in flag) || ((card, "b") in flag)) continue
    usable++
    if (is_idle(world, card)) idle++
  }
  kept = keep_cards
  if (("polite" in rule) && usable > 1 && kept < 1) kept = 1
  return idle - kept
}


function choose_cards(need, world,   at, maker, tried) {
  picks = 0
  if (!(need in need_cards)) return ""
  judge_cards(need, world)
  sort_cards(need, world, is_packed(world) && !is_alone[need], by_whole)
  sort_cards(need, world, is_packed(world), by_part)
  split("", tried)
  for (at = 1; at <= sorted; at++) {
    maker = card_maker[first_of(need, at)]
    if (is_suitable(need, first_of(need, at)) && !(maker in tried) && pick(need, world, maker)) {
      if (need_machine[need]) pick_all(need, world)
      return ""
    }
    if (is_suitable(need, first_of(need, at))) tried[maker] = 1
  }
  picks = 0
  return refused_cards(need, world)
}

function judge_cards(need, world,   card) {
  find_candidates(need)
  for (card = 1; card <= cards; card++) {
    why_whole[card] = why_part[card] = "-"
    if (!listed_times[card] && (is_listed[need] || !((card, "x") in flag))) continue
    why_whole[card] = why_part[card] = ""
    if (whole[need] > 0)
      why_whole[card] = refusal(need, world, card, is_alone[need] ? 1000 : 0, card_share[need], is_alone[need])
    if (part[need] > 0) why_part[card] = refusal(need, world, card, part[need], part_share(need), 0)
  }
}

function find_candidates(need,   list, count, at, card) {
  count = split(candidates[need], list, ",")
  for (card = 1; card <= cards; card++) {
    listed_times[card] = listed_place[card] = 0
    for (at = 1; at <= count; at++) {
      if (!is_named(card, list[at] "")) continue
      if (!listed_times[card]++) listed_place[card] = at
    }
  }
}

function is_named(card, word) {
  return word == "*" || word == card_uuid[card] || (!((card, "m") in flag) && word == whole_number(card_index[card]))
}

function is_packed(world) {
  return (("pack" in rule) || wants_alone) && world != "later" && world != "empty"
}

function sort_cards(need, world, packed, order,   card, at, use_world) {
  use_world = world == "later" || world == "empty" ? keeps : world
  sorted = 0
  for (card = 1; card <= cards; card++) {
    for (at = ++sorted; at > 1 && is_before(need, use_world, packed, card, order[at - 1]); at--) order[at] = order[at - 1]
    order[at] = card
  }
}

function is_before(need, world, packed, a, b,   by_use) {
  if (is_listed[need]) return listed_place[a] < listed_place[b]
  if ((card_use[a] == "") != (card_use[b] == "")) return card_use[b] == ""
  by_use = share[world, a] - share[world, b]
  if (by_use != 0) return packed ? by_use > 0 : by_use < 0
  return card_index[a] < card_index[b]
}

function first_of(need, at) {
  return whole[need] > 0 ? by_whole[at] : by_part[at]
}

function is_suitable(need, card) {
  return (whole[need] > 0 ? why_whole[card] : why_part[card]) == ""
}

function part_share(need) {
  return card_share[need] < part[need] ? card_share[need] : part[need]
}

function pick(need, world, maker,   at) {
  picks = 0
  spare = spare_cards(world)
  split("", is_picked)
  for (at = 1; at <= sorted && picks < whole[need]; at++)
    if (why_whole[by_whole[at]] == "" && card_maker[by_whole[at]] == maker) pick_whole(need, world, by_whole[at])
  if (picks < whole[need] || part[need] == 0) return picks == whole[need]
  for (at = 1; at <= sorted; at++)
    if (why_part[by_part[at]] == "" && card_maker[by_part[at]] == maker && !(by_part[at] in is_picked) &&
      pick_card_of(world, by_part[at], part_share(need), part[need])) return 1
  return 0
}

function pick_whole(need, world, card) {
  return pick_card_of(world, card, card_share[need], is_alone[need] ? 1000 : 0)
}

function pick_card_of(world, card, its_share, its_amount) {
  if (!may_use(world, card)) return 0
  is_picked[card] = 1
  pick_card[++picks] = card
  pick_share[picks] = its_share
  pick_amount[picks] = its_amount
  return 1
}

function may_use(world, card) {
  if (!is_idle(world, card)) return spare >= 0
  if (spare <= 0) return 0
  spare--
  return 1
}

function pick_all(need, world,   at) {
  picks = 0
  spare = spare_cards(world)
  for (at = 1; at <= sorted; at++) if (why_whole[by_whole[at]] == "") pick_whole(need, world, by_whole[at])
}

function refused_cards(need, world,   at, card, maker, spares, kept, available, why, words) {
  available = 0
  words = ""
  for (at = 1; at <= sorted; at++) {
    card = first_of(need, at)
    if (!is_suitable(need, card)) continue
    maker = card_maker[card]
    spare = (maker in spares) ? spares[maker] : spare_cards(world)
    if (may_use(world, card)) available++
    else kept[card] = 1
    spares[maker] = spare
  }
  for (card = 1; card <= cards; card++) {
    why = why_whole[card] != "" ? why_whole[card] : why_part[card]
    if (card in kept) why = "kept"
    if (why != "" && why != "-") words = words " card:" whole_number(card_index[card]) ":" why
  }
  return " cards:" whole_number(need_milli[need]) ":" available words
}

function host_mb(need,   p, sharing) {
  sharing = 0
  for (p = 1; p <= picks; p++) if ((pick_card[p], "s") in flag) sharing++
  if (sharing == 0) return 0
  return (sharing < need_cards[need] ? sharing : need_cards[need]) * card_mb[need]
}


function choose_resources(need, world,   want, words) {
  gots = 0
  words = ""
  for (want = first_want[need]; want <= last_want[need]; want++)
    if (!get(world, want)) words = words " res:" want_name[want] ":" wanted_and_free(world, want)
  return words
}

function get(world, want,   list, count, at, i, best, is_used) {
  count = amounts_of(want, list)
  for (at = 1; at <= count; at++) {
    best = 0
    for (i = 1; i <= instances; i++) {
      if (instance_resource[i] != want_name[want] || (i in is_used) || at_least_0(left[world, i]) < list[at]) continue
      if (best == 0 || left[world, i] < left[world, best]) best = i
    }
    if (best == 0) return 0
    is_used[best] = 1
    got_instance[++gots] = best
    got_amount[gots] = list[at]
  }
  return count > 0
}

function amounts_of(want, list,   count, at, i, largest, alike, rest) {
  count = split(want_amounts[want], list, ",")
  for (at = 1; at <= count; at++) list[at] += 0
  largest = alike = 0
  for (i = 1; i <= instances; i++) {
    if (instance_resource[i] != want_name[want]) continue
    if (capacity[i] > largest) largest = capacity[i]
    alike = capacity[i] == 1000 ? alike + 1 : -instances
  }
  if (count > 1 || list[1] <= largest) return count
  rest = list[1] % 1000
  count = (list[1] - rest) / 1000
  if (alike < count) return 0
  for (at = 1; at <= count; at++) list[at] = 1000
  if (rest > 0) list[++count] = rest
  return count
}

function wanted_and_free(world, want,   list, count, at, i, wanted, all, most, room, largest) {
  wanted = all = most = largest = 0
  count = split(want_amounts[want], list, ",")
  for (at = 1; at <= count; at++) wanted += list[at]
  for (i = 1; i <= instances; i++) {
    if (instance_resource[i] != want_name[want]) continue
    room = at_least_0(left[world, i])
    all += room
    if (capacity[i] > largest) largest = capacity[i]
    if (room > most) most = room
  }
  return whole_number(wanted) ":" whole_number(count > 1 || wanted > largest ? all : most)
}


function print_start(need,   p, card, uuids) {
  uuids = ""
  for (p = 1; p <= picks; p++) uuids = uuids (p > 1 ? "," : "") card_uuid[pick_card[p]]
  print "start " need_key[need] " " need_kind[need] " " nine_digits(need_mb[need]) " " decimal(need_cores[need]) " " \
    nine_digits(picks ? card_mb[need] : 0) " " decimal(picks ? pick_share[1] : 0) " " \
    (picks && whole[need] > 0 && is_alone[need] ? 1 : 0) " " need_machine[need] " " (uuids == "" ? "-" : uuids)
  for (p = 1; p <= picks; p++) {
    card = pick_card[p]
    print "card " whole_number(card_index[card]) " " card_uuid[card] " " card_maker[card] " " whole_number(card_mb[need]) " " \
      whole_number(pick_share[p]) " " whole_number(pick_amount[p]) " " (((card, "m") in flag) ? 1 : 0)
  }
  for (p = 1; p <= gots; p++)
    print "got " instance_resource[got_instance[p]] " " instance_name[got_instance[p]] " " whole_number(got_amount[p])
}

function nine_digits(number) {
  return whole_number(number > 999999999 ? 999999999 : number)
}

function whole_number(number) {
  return number == 0 ? "0" : sprintf("%.0f", number)
}

function decimal(milli,   rest, digits) {
  rest = milli % 1000
  if (rest == 0) return whole_number(milli / 1000)
  digits = sprintf("%03d", rest)
  sub(/0+$/, "", digits)
  return whole_number((milli - rest) / 1000) "." digits
}


{ read_line() }

END {
  settle()
  make_now(0)
  if (needs > 1) {
    make_empty("empty")
    copy_world("empty", "later")
  }
  keeps = 0
  for (need = 1; need <= needs; need++) {
    if (starts(need)) break
    if (need < needs) keep_for(need)
  }
  if (ignored > 0) print "ignored " whole_number(ignored)
}

function starts(need,   why) {
  why = reasons(need, 0)
  if (why == "" && keeps > 0 && reasons(need, keeps) != "") why = " kept:" keeper_before(need)
  if (why == "") print_start(need)
  else print "wait " need_key[need] " " need_kind[need] why
  return why == ""
}

function keeper_before(need,   k) {
  for (k = 1; k < keeps; k++) if (reasons(need, k) != "") break
  return keeper[k]
}

function keep_for(need) {
  if (reasons(need, "later") != "" && reasons(need, "empty") != "") return
  copy_world(keeps, keeps + 1)
  keeps++
  keeper[keeps] = need_key[need]
  take(need, keeps)
  take(need, "later")
}

function reasons(need, world,   why, cards_why, mb) {
  why = ""
  if (reserved[world] != "") why = " machine:" reserved[world]
  else if (need_machine[need] && claimed[world] != "") why = " machine:" claimed[world]
  if (max_jobs != "" && jobs[world] >= max_jobs) why = why " jobs:" whole_number(max_jobs)
  cards_why = choose_cards(need, world)
  mb = need_mb[need] + host_mb(need)
  if (memory[world] == "") why = why " memory:-"
  else if (is_over(mb, memory[world], world)) why = why " memory:" whole_number(mb) ":" whole_number(at_least_0(memory[world]))
  if (cores[world] == "") why = why " cores:-"
  else if (is_over(need_cores[need], cores[world] + CPU_OVERLOAD, world))
    why = why " cores:" whole_number(need_cores[need]) ":" whole_number(cores[world])
  return why cards_why choose_resources(need, world)
}

function is_over(wanted, free, world) {
  return wanted > free && !(wanted == 0 && has_keeps[world])
}

function at_least_0(number) {
  return number > 0 ? number : 0
}
