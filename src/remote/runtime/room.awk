# Decides which waiting job starts, and on which devices: facts, claims and needs in, devices or reasons out. POSIX awk,
# for mawk, gawk and busybox. src/plan/slots/allocate.ts gives the same answers; docs/room.md has the texts.
#
# A world is a state of the machine: what is left of everything. World 0 is now. World k is now, less what the first k
# needs that cannot start yet keep for themselves. "empty" is now without any claim, "later" is that, less what is kept.

@include "room/claims.awk"
@include "room/facts.awk"
@include "room/worlds.awk"
@include "room/card-refusal.awk"
@include "room/placing.awk"
@include "room/resources.awk"
@include "room/answer.awk"

{ read_line() }

END {
  settle()
  make_now(0)
  # Only needs after another one can find something kept.
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

# Prints the start of a need, or why it waits.
function starts(need,   why) {
  why = reasons(need, 0)
  if (why == "" && keeps > 0 && reasons(need, keeps) != "") why = " kept:" keeper_before(need)
  if (why == "") print_start(need)
  else print "wait " need_key[need] " " need_kind[need] why
  return why == ""
}

# The first need that keeps what this one would take.
function keeper_before(need,   k) {
  for (k = 1; k < keeps; k++) if (reasons(need, k) != "") break
  return keeper[k]
}

# A need that only waits for jobs of sshoal keeps what it waits for. Otherwise, smaller jobs would overtake it for ever.
function keep_for(need) {
  if (reasons(need, "later") != "" && reasons(need, "empty") != "") return
  copy_world(keeps, keeps + 1)
  keeps++
  keeper[keeps] = need_key[need]
  take(need, keeps)
  take(need, "later")
}

# Returns why a need does not fit into a world, with a blank before each word; "" if it fits. Leaves the chosen devices in
# $picks and $gots.
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

# What earlier needs keep can be more than there is. A need that takes none of it still fits.
function is_over(wanted, free, world) {
  return wanted > free && !(wanted == 0 && has_keeps[world])
}

function at_least_0(number) {
  return number > 0 ? number : 0
}
