# Chooses cards for a need: whole cards first, then the card of which the job needs a part.

# Returns why there are too few cards, or "". Leaves the choice in $picks.
function choose_cards(need, world,   at, maker, tried) {
  picks = 0
  if (!(need in need_cards)) return ""
  judge_cards(need, world)
  sort_cards(need, world, is_packed(world) && !is_alone[need], by_whole)
  sort_cards(need, world, is_packed(world), by_part)
  split("", tried)
  for (at = 1; at <= sorted; at++) {
    maker = card_maker[first_of(need, at)]
    # No program uses cards of two makers at once.
    if (is_suitable(need, first_of(need, at)) && !(maker in tried) && pick(need, world, maker)) {
      if (need_machine[need]) pick_all(need, world)
      return ""
    }
    if (is_suitable(need, first_of(need, at))) tried[maker] = 1
  }
  picks = 0
  return refused_cards(need, world)
}

# Fills $why_whole and $why_part for each candidate, and $judged with their number. "-": the card is no candidate.
function judge_cards(need, world,   card) {
  find_candidates(need)
  for (card = 1; card <= cards; card++) {
    why_whole[card] = why_part[card] = "-"
    # A card that the machine file excludes is reported, although it is no candidate.
    if (!listed_times[card] && (is_listed[need] || !((card, "x") in flag))) continue
    why_whole[card] = why_part[card] = ""
    if (whole[need] > 0)
      why_whole[card] = refusal(need, world, card, is_alone[need] ? 1000 : 0, card_share[need], is_alone[need])
    if (part[need] > 0) why_part[card] = refusal(need, world, card, part[need], part_share(need), 0)
  }
}

# Sets how often each card is listed, and its first place in the list.
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

# By its UUID or, unless it is a slice, by its number.
function is_named(card, word) {
  return word == "*" || word == card_uuid[card] || (!((card, "m") in flag) && word == whole_number(card_index[card]))
}

# Shared jobs fill a card before they begin another one. What waits for later keeps the least used card, so that the choice
# stays the same while it waits.
function is_packed(world) {
  return (("pack" in rule) || wants_alone) && world != "later" && world != "empty"
}

# Sorts all cards into $order, and sets $sorted. An insertion sort keeps the order of equals.
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

# The cards in the order in which the first kind of them is chosen.
function first_of(need, at) {
  return whole[need] > 0 ? by_whole[at] : by_part[at]
}

function is_suitable(need, card) {
  return (whole[need] > 0 ? why_whole[card] : why_part[card]) == ""
}

function part_share(need) {
  return card_share[need] < part[need] ? card_share[need] : part[need]
}

# True if the cards of one maker are enough.
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

# Spends one of the $spare idle cards.
function may_use(world, card) {
  if (!is_idle(world, card)) return spare >= 0
  if (spare <= 0) return 0
  spare--
  return 1
}

# A job that has the machine gets every card that fits.
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

# Cards without memory of their own use the host's.
function host_mb(need,   p, sharing) {
  sharing = 0
  for (p = 1; p <= picks; p++) if ((pick_card[p], "s") in flag) sharing++
  if (sharing == 0) return 0
  return (sharing < need_cards[need] ? sharing : need_cards[need]) * card_mb[need]
}
