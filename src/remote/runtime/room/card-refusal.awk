# Decides whether one more job fits on a card.

# Returns "", or why a part of a job does not fit: the words of a reason after "card:<index>:". A need for a whole card of
# its own has the amount 1000; a whole card that jobs share has the amount 0.
function refusal(need, world, card, its_amount, its_share, for_itself,   why) {
  if ((card, "x") in flag) return "excluded"
  if ((card, "b") in flag) return "bad"
  # A listed card that no tool reports may be a slice, or not.
  if (((card, "m") in flag) && need_cards[need] > 1 && !(is_listed[need] && ((card, "t") in flag))) return "slice"
  if (is_listed[need] && on[world, card, 1] >= listed_times[card]) return "listed"
  if (("polite" in rule) && ((card, "o") in flag)) return "person"
  why = taken_by(need, world, card, for_itself || ((card, "e") in flag))
  if (why != "") return why
  if (((card, "e") in flag) && ((card, "f") in flag)) return "exclusive"
  why = memory_refusal(need, world, card)
  if (why != "") return why
  # The user chose listed cards, so jobs of this batch may crowd them.
  if (!is_listed[need] && is_over(its_share, MOST_USE - share[world, card], world))
    return "use:" whole_number(its_share) ":" whole_number(share[world, card])
  if (is_over(its_amount, 1000 - sum_of(amount, need, world, card), world))
    return "amount:" whole_number(its_amount) ":" whole_number(at_least_0(1000 - sum_of(amount, need, world, card)))
  return ""
}

function taken_by(need, world, card, for_itself,   o, c) {
  if (sum_of(alone, need, world, card) == 0 && !(for_itself && sum_of(on, need, world, card) > 0)) return ""
  # Only reasons of the present are printed, where claims have names.
  for (o = 1; o <= ons; o++) {
    c = on_claim[o]
    if (on_uuid[o] != card_uuid[card] || !(for_itself || on_amount[o] >= 1000) || is_listed[need] && is_ours(c)) continue
    return "taken:" holder_of(c) ":" claim_job[c]
  }
  return "taken:-:-:-"
}

# Jobs of this batch do not count on a listed card.
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

# A card that no job and no other process uses.
function is_idle(world, card) {
  return !((card, "f") in flag) && on[world, card, 0] + on[world, card, 1] == 0
}

# How many idle cards a job may take, because others are kept for people. Below 0: people miss cards already.
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
