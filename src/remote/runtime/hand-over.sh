# Puts jobs and slots into the spool, and starts the slots. Runs with $root, $base and $spool set; $slots, the indices
# of the first slots; $most, how many loops are useful; $tree, the name of the jobs' tree; $carries, empty unless the archive
# has that tree; $copies, the names of trees that
# are copied over it; $is_furnished, empty unless the spool has slots and scripts; $scripts, their names; $spool_format,
# the format of the jobs; with load_lib, which defines lib.sh; and with the client at descriptor 3.

. ./hand-over/freed.sh
. ./hand-over/scout.sh
. ./slot/next-slot.sh

incoming=$spool/incoming.$$
is_first='' idle=$slots

hand_over() {
  # A failed print shows that the client is gone; SIGPIPE must not end this shell. Then jobs in place get their slots,
  # and the rest is removed.
  trap : PIPE
  receive && bring_tree && furnish_spool && with_lock jobs.lock put_in_place || { print_refusal; return 1; }
  [ -n "$is_first" ] || { with_lock "$lock" find_idle && [ -n "$idle" ] || find_scout; }
  [ ! -e drain ] || { open_log && with_lock jobs.lock open_slots; }
  # After everything is in place.
  for slot in $idle; do
    [ "$most" -gt 0 ] || break
    most=$((most - 1))
    start_slot "$slot" 3<&-
  done
  rm -rf "$incoming"
  echo "done"
}

# Prints "refused" only if no job of this hand-over is in place: only this shell could put one there, and it ends.
print_refusal() {
  echo refused
  rm -rf "$incoming"
  rmdir "$spool" 2>/dev/null
}

receive() {
  for tool in setsid tar find xargs awk; do
    command -v "$tool" >/dev/null || { echo "there is no $tool on the machine" >&2; return 1; }
  done
  is_of_our_format && make_incoming && unpack && is_whole && cd "$spool" && is_heard
}

# Nothing is put into a spool of another version, because its scripts would not understand it.
is_of_our_format() {
  [ -e "$spool/trees" ] || return 0
  format=1
  { read -r format <"$spool/format"; } 2>/dev/null
  [ "$format" != "$spool_format" ] || return 0
  if [ "$format" -gt "$spool_format" ]; then
    echo "a newer sshoal made the spool that is there: upgrade this one" >&2
  else
    echo "an older sshoal made the spool that is there, which gets no more jobs" >&2
  fi
  return 1
}

# Jobs that a killed hand-over left under the same name must not get in. Only a hand-over that brings slots and scripts
# creates a removed spool again.
make_incoming() {
  [ ! -e "$incoming" ] || rm -rf "$incoming" || return 1
  if [ -z "$is_furnished" ]; then
    make_own "$root" ${carries:+"$root/trees"} "$root/batches" "$spool" || return 1
  elif [ ! -e "$spool/slot.sh" ]; then
    echo "what was handed over before is not there any more" >&2
    return 1
  elif [ -n "$carries" ]; then
    make_own "$root" "$root/trees" || return 1
  fi
  mkdir "$incoming" ${carries:+"$incoming/tree"}
}

# busybox's tar subtracts the umask from every mode, unless root runs it. $incoming itself is closed to other accounts, and
# what is not the tree must be closed, too.
unpack() {
  if [ -n "$carries" ]; then
    (umask 0 && exec tar -xpof - -C "$incoming" <&3) && (cd "$incoming" && chmod -R go= [!t]*)
  else
    tar -xpof - -C "$incoming" <&3
  fi
}

# A small tree comes with the jobs. Whether the machine has it was not asked, which would take longer.
bring_tree() {
  [ -n "$carries" ] || return 0
  own_tree=$root/trees/$tree
  expect_own "$own_tree" || return 1
  if [ -d "$own_tree" ]; then
    touch "$own_tree" && echo had
  else
    # -T: into its place, never into a tree that another client has brought in the meantime.
    mv -T "$incoming/tree" "$own_tree" 2>/dev/null || [ -d "$own_tree" ] || mv "$incoming/tree" "$own_tree"
  fi
}

# tar reports no error for an archive that ends between two files.
is_whole() {
  [ -e "$incoming/whole" ] || { echo "only a part of it arrived" >&2; return 1; }
}

# The client may be gone, another client may have resumed the batch, or the batch may be done. Then this hand-over is
# too late.
is_heard() {
  echo received
}

# Everything that slots, clients and cleaning look for is in place before the first job.
furnish_spool() {
  [ "$root" = "$base" ] || make_own "$base" "$base/batches" 2>/dev/null
  [ "$root" = "$base" ] || ln -s "$spool" "$base/batches/" 2>/dev/null
  [ -n "$is_furnished" ] || furnish || return 1
  # The spool's own lib.sh may be of another version.
  load_lib
  . ./settings
  # Other batches' cleaning keeps the trees that are named here.
  # shellcheck disable=SC2086
  make_logs && printf '%s\n' "$tree" $copies >>trees && is_heard
}

# A client follows the logs that exist when it begins. Several clients can have control channels at the same time.
make_logs() {
  [ -d slots ] || mkdir slots || return 1
  for slot in $slots; do
    [ -d "slots/$slot" ] || mkdir "slots/$slot" || return 1
    true >>"slots/$slot/events" || return 1
  done
  for number in 1 2 3; do
    true >>"events.$host.$number" || return 1
  done
}

furnish() {
  printf "login_umask=%s login_locale='%s'\n" "$login_umask" "$login_locale" >>"$incoming/settings" || return 1
  # Loops may be running the scripts in the spool, so these stay, whichever version brought them.
  [ ! -e format ] || scripts=
  # shellcheck disable=SC2086
  (cd "$incoming" && exec mv $scripts settings room "$spool/") && mv "$incoming/format" .
}

# Holds the lock under which jobs are freed: a delayed hand-over sees all jobs that arrived and were freed in the
# meantime.
put_in_place() {
  bring_needs || return 1
  if [ -e jobs ] || [ -e manifest ]; then add; else move_in; fi
}

# Before the jobs that have these needs.
bring_needs() {
  if [ -d needs ]; then mv "$incoming/needs/"* needs/; else mv "$incoming/needs" .; fi
}

# The spool has no jobs and no loop yet, so one rename, the last step, puts all jobs into place.
move_in() {
  is_first=yes
  [ -d "$incoming/jobs" ] || mkdir "$incoming/jobs" || return 1
  mv "$incoming/manifest" "$incoming/jobs" "$spool/" || [ ! -d "$incoming/jobs" ]
}

add() {
  drop_freed && { [ -d jobs ] || mkdir jobs; } && cat "$incoming/manifest" >>manifest || return 1
  # From here on jobs may be in place, so this is no longer a refusal.
  [ ! -d "$incoming/jobs" ] || mv "$incoming/jobs/"* jobs/ 2>/dev/null
  tell_left_out
}

# Does not touch a job that is already there: mv does not put one directory over another. Prints the jobs that were not
# accepted: those without room, and those that the client had taken back before they arrived.
tell_left_out() {
  for job in "$incoming"/jobs/*; do
    [ -d "$job" ] || continue
    key=${job##*/} taker=
    { read -r taker <"jobs/$key/claim"; } 2>/dev/null
    if [ "$taker" = client ]; then
      echo "taken $key"
    elif [ ! -d "jobs/$key" ]; then
      echo "missing $key"
    fi
  done
  return 0
}

# Holds the lock under which a loop decides to end: a running loop finds the jobs by itself, and a second one would
# exit.
find_idle() {
  idle=
  for slot in $slots; do
    ! is_dead "slots/$slot/loop" || idle="$idle $slot"
  done
}
