# Makes worlds: what is left of everything, after claims. [card, 1] counts the claims of this batch, [card, 0] all others.

function make_now(world,   c, o, i, running, idle) {
  make_bare(world)
  running = idle = 0
  for (c = 1; c <= claims; c++) {
    if (claimed[world] == "") claimed[world] = holder_of(c)
    if (claim_machine[c] && reserved[world] == "") reserved[world] = holder_of(c)
    if (account == "" || claim_owner[c] == account) jobs[world]++
    # Memory that a job uses is missing from the measured free memory already.
    spend_memory(world, at_least_0(claim_mb[c] - claim_used[c]))
    # The cores of a running job are part of the measured load. A job that uses no memory has not begun.
    if (claim_used[c] == "" || claim_used[c] > 0) running += claim_cores[c]
    else idle += claim_cores[c]
  }
  if (cores[world] != "") cores[world] -= (running > cores_busy ? running : cores_busy) + idle
  for (o = 1; o <= ons; o++) if (on_uuid[o] in card_of)
    use_card(world, card_of[on_uuid[o]], at_least_0(on_mb[o] - on_used[o]), on_share[o], on_amount[o], is_ours(on_claim[o]))
  for (i = 1; i <= holds; i++) if ((hold_instance[i] in instance_of) && is_counted(i))
    left[world, instance_of[hold_instance[i]]] -= hold_amount[i]
}

# As if all claims ended: what their jobs are known to use is free again.
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

# As measured, without claims.
function make_bare(world,   card, i) {
  reserved[world] = claimed[world] = ""
  jobs[world] = has_keeps[world] = 0
  memory[world] = memory_free == "" ? "" : memory_free - keep_mb
  cores[world] = cores_all == "" || cores_busy == "" ? "" : cores_all - keep_cores
  for (card = 1; card <= cards; card++) {
    free[world, card] = card_free[card]
    # Some drivers report full use of an idle card. It counts only where a process of another kind is known.
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

# Keeps in a world what was chosen for a need.
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

# Slices with a common memory all have less of it. A card without memory of its own uses the host's.
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

# What a queue declares, as gpu@train, is of its account alone: another account can have a queue of the same name.
function is_counted(hold) {
  return !is_of_queue[hold] || account == "" || claim_owner[hold_claim[hold]] == account
}

# Another account can have a batch of the same name.
function is_ours(claim) {
  return claim_batch[claim] == batch && (account == "" || claim_owner[claim] == account)
}

function holder_of(claim) {
  return claim_owner[claim] ":" claim_batch[claim]
}
