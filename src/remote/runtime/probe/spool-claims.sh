# Prints the claims of live slots, and how much memory their jobs hold. Slots of older formats have their claims in their spools.

tell_claims() {
  line_of "$proc/sys/kernel/random/boot_id" || return
  boot_id=$line
  # Each is `key:lead:pid` or `key:loop:pid`: a job leads a session or a group, and has the loop of its slot as an ancestor.
  roots='' has_claims=
  for base; do
    for claim in "$base"/batches/*/slots/*/claim; do
      # A link may lead to a directory that another account has made since.
      [ -s "$claim" ] && [ -O "${claim%/claim}" ] && is_older "${claim%/slots/*}" && tell_claim "${claim%/claim}"
    done
  done
  tell_all_claims "$@"
  [ -z "$has_claims" ] || say account "$(id -un 2>/dev/null)"
  [ -z "$roots" ] || tell_resident
}

# Format 1 has no such file.
is_older() {
  line_of "$1/format"
  case $line in '' | 1 | 2) ;; *) return 1 ;; esac
}

tell_claim() {
  pid='' started='' boot=''
  { read -r pid started boot _ <"$1/loop"; } 2>/dev/null
  # A line without a host is of format 1, and of this host.
  [ "$boot" = "$boot_id@$hostname" ] || [ "$boot" = "$boot_id" ] || return
  has_started "$pid" "$started" && read_claim "$1/claim" || return
  read_leader "$1" && roots="$roots $session:lead:$session"
  batch=${1%/slots/*} has_claims=1
  say claim "$pid ${1##*/} $session $memory $cpus $gpu_memory $gpu_use $gpu $machine $cards ${batch##*/}"
}

# read_leader SLOT: sets $session to the process that leads the job of a slot; "-", and fails: there is none.
read_leader() {
  session=-
  { read -r session job_started _ <"$1/job"; } 2>/dev/null
  case $session in
    '' | *[!0-9]*) session=- ;;
    *) has_started "$session" "$job_started" || is_gone "$session" || session=- ;;
  esac
  [ "$session" != - ]
}

# A pid identifies a process only together with its start time. The 2nd field of stat may contain spaces and brackets.
has_started() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  line_of "$proc/$1/stat" || return
  wanted=$2
  # shellcheck disable=SC2086
  set -- ${line##*) }
  [ "$1" != Z ] && [ "${20}" = "$wanted" ]
}

is_gone() {
  ! [ -e "$proc/$1" ]
}

# One awk for all processes: `read` reads byte by byte, which takes 1.8 s for 3000 processes instead of 0.05. In /proc/*/stat after
# the last ")": the 2nd word is the parent, then group and session; the 22nd the resident pages. awk and sed would stop at a process
# that ends meanwhile, cat does not.
tell_resident() {
  tell_page_size
  cat "$proc"/[0-9]*/stat 2>/dev/null |
    awk -v roots="$roots" -v nonce="$nonce" '
      BEGIN {
        count = split(roots, each, " ")
        for (i = 1; i <= count; i++) {
          split(each[i], part, ":")
          if (part[2] == "lead") leads[part[3]] = part[1]
          else loops[part[3]] = part[1]
        }
      }
      {
        pid = $1
        sub(/^.*\) /, "")
        parent[pid] = $2; group[pid] = $3; session[pid] = $4; pages[pid] = $22
      }
      END {
        for (pid in parent) if ((key = key_of(pid)) != "") print nonce, "rss", key, pages[pid]
      }
      # The loop and its keeper share a group, and are no part of the job.
      function key_of(pid,  up, steps) {
        if (group[pid] in leads) return leads[group[pid]]
        if (session[pid] in leads) return leads[session[pid]]
        for (up = pid; steps < 99 && up in parent; up = parent[up]) {
          if (up in loops) return group[pid] == group[up] ? "" : loops[up]
          steps++
        }
        return ""
      }' 2>/dev/null
}

# The page size is not always 4 kB, and getconf does not exist everywhere.
tell_page_size() {
  { while read -r key value _; do
    [ "$key" = KernelPageSize: ] && say pagesize "$value" && break
  done <"$proc/self/smaps"; } 2>/dev/null
}
