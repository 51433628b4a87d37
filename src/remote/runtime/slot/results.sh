# Separates the results of a job, the files that it changed or made, from its inputs.

# keep_results OWNER: moves work/ to the current job, unless it belongs to another job, and removes unchanged inputs
# from it. If this is killed halfway, recovery does it again before another job runs in this slot.
keep_results() {
  is_directory "$dir/work" || ! is_there "$dir/work" || rm -f "$dir/work"
  name_tree && [ "$1" = "$key" ] || return 0
  if [ -e "$dir/keep" ]; then
    remove "$dir/making"
    [ -d "$dir/work" ] || return 0
  elif [ ! -d "$dir/work" ]; then
    is_directory "$mine/work" || { miss_work; return 0; }
    ! is_untouched || return 0
    note_copied ''
    mv "$mine/work" "$dir/work" 2>/dev/null || { chmod u+rwx "$mine/work" && mv "$mine/work" "$dir/work"; } || return
    [ "$tree_is_large" = 0 ] || [ "$tree" = - ] || [ "$copy_unchanged" = 1 ] || ! can_tell || has_clock_jumped || pass_on
  fi
  [ "$tree" = - ] || [ "$copy_unchanged" = 1 ] || drop_inputs
  return 0
}

# The job has removed its directory, moved it, or replaced it.
miss_work() {
  # A job that was killed or stopped before its start has no directory.
  [ "$copied" = "$boot_id whole $tree" ] || return 0
  note_copied ''
  rm -f "$mine/work"
  echo "sshoal: the job removed or replaced its working directory: what was in it is no result" >&2
}

is_untouched() {
  if [ "$tree" = - ]; then
    is_open "$mine/work" || return 1
    for entry in "$mine/work/"* "$mine/work/".[!.]* "$mine/work/"..?*; do
      ! is_there "$entry" || return 1
    done
  else
    [ "$copy_unchanged" = 0 ] && ! has_clock_jumped && is_as_copied
  fi
}

is_as_copied() {
  can_tell && finds_no_change
}

# A find that was killed also prints nothing, so its status counts too.
finds_no_change() {
  found=$(find "$mine/work" -cnewer "$mine/fresh" -print -quit 2>&1) && [ -z "$found" ]
}

# Not every find has -cnewer; without it, contents are compared.
can_tell() {
  if [ -z "$find_tells" ]; then
    find_tells=no
    ! find . -prune -cnewer . -quit >/dev/null 2>&1 || find_tells=yes
  fi
  [ "$find_tells" = yes ]
}

# If the clock was set back to before "fresh", changed files would look old.
has_clock_jumped() {
  true >"$mine/now"
  [ "$mine/fresh" -nt "$mine/now" ]
}

# In a large tree, each top entry without changes is passed on to the next job by a rename.
pass_on() {
  remove "$mine/changed"
  mkdir "$mine/changed" "$mine/work" || return
  (cd "$dir/work" && find . ! -name . -cnewer "$spool/$mine/fresh" -exec sh -c 'changed=$1; shift
    for path; do
      path=${path#./}
      true >"$changed/${path%%/*}" || exit 1
    done' sh "$spool/$mine/changed" {} +) || return
  set --
  for entry in "$tree"/* "$tree"/.[!.]* "$tree"/..?*; do
    name=${entry##*/}
    is_there "$entry" && is_there "$dir/work/$name" && [ ! -e "$mine/changed/$name" ] && set -- "$@" "$dir/work/$name"
  done
  [ $# = 0 ] || mv -- "$@" "$mine/work/" || return
  note_copied "$boot_id part $tree"
}

# Unchanged inputs are no results. They are recognised by their ctime, which no program can set back, or by content if
# find cannot compare ctimes. Only files that are also in the tree with the same age are removed, in case the clock was
# set back. A directory without write permission gets it first, because no file could be removed from it otherwise.
drop_inputs() {
  cd "$dir/work" || return
  if can_tell; then
    find . -type d ! -perm -700 -exec chmod u+rwx {} \; -o ! -type d ! -cnewer "$spool/$mine/fresh" -exec sh -c 'tree=$1; shift
      for file; do
        if [ -h "$file" ]; then [ -h "$tree/$file" ]
        else [ -e "$tree/$file" ] && ! [ "$file" -nt "$tree/$file" ] && ! [ "$file" -ot "$tree/$file" ]
        fi && printf "%s\0" "$file"
      done' sh "$tree" {} + | xargs -0 rm -f
  else
    find . -type d ! -perm -700 -exec chmod u+rwx {} \; -o ! -type d -exec sh -c 'tree=$1; shift
      for file; do
        if [ -h "$file" ]; then [ -h "$tree/$file" ] && [ "$(readlink "$file")" = "$(readlink "$tree/$file")" ]
        else [ ! -h "$tree/$file" ] && cmp -s "$file" "$tree/$file"; fi && rm -f "$file"
      done' sh "$tree" {} +
  fi
  [ "$tree_has_directories" = 0 ] || (cd "$tree" && find . -depth -type d ! -path . -print0) | xargs -0 rmdir 2>/dev/null
  cd "$OLDPWD" || return
}
