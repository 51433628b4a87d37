# Chooses instances of named resources.

# Returns why there is too little, or "". Leaves the choice in $gots.
function choose_resources(need, world,   want, words) {
  gots = 0
  words = ""
  for (want = first_want[need]; want <= last_want[need]; want++)
    if (!get(world, want)) words = words " res:" want_name[want] ":" wanted_and_free(world, want)
  return words
}

# Each amount comes from another instance: the fullest one that has it. Larger jobs need the emptier ones.
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

# Sets the amounts in $list, and returns their number; 0: no number of instances is enough. One amount larger than every
# instance means several whole ones, and then a part.
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

# For one amount, the most that one instance has free. For several, all that is free.
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
