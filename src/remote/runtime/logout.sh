# Finds out what happens to a user's processes when the connection that started them closes. POSIX sh, for other
# scripts.

# Sets $at_logout: "survive"; "scope": only processes in a scope of the user's own systemd survive; "no-linger": that
# systemd ends with the last login; "no-scope": it cannot start a scope for us.
find_logout() {
  at_logout=survive
  is_ended_at_logout || return 0
  at_logout=no-linger
  case $(in_time loginctl show-user "$logged_in" -p Linger) in Linger=yes) ;; *) return 0 ;; esac
  at_logout=no-scope
  ! in_time systemd-run --user --scope --quiet true >/dev/null || at_logout=scope
}

# Done by systemd-logind; root is exempt unless the machine is configured otherwise.
is_ended_at_logout() {
  command -v loginctl >/dev/null || return 1
  said=$(in_time loginctl show-user -p KillUserProcesses -p KillOnlyUsers -p KillExcludeUsers)
  case $said in *KillUserProcesses=yes*) ;; *) return 1 ;; esac
  logged_in=$(id -un)
  ! is_among KillExcludeUsers root && is_among KillOnlyUsers "$logged_in"
}

# is_among NAME USERS: true if the user is in logind's list NAME, or in USERS if that list is empty.
is_among() {
  users=
  case $said in *"$1="*) users=${said##*"$1="} ;; esac
  users=${users%%"
"*}
  case " ${users:-$2} " in *" $logged_in "*) ;; *) return 1 ;; esac
}

# A bus that hangs must not block the caller.
in_time() {
  if command -v timeout >/dev/null; then timeout 5 "$@"; else "$@"; fi 2>/dev/null
}
