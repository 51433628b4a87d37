# What the current job uses: a sampler measures it (sampler.sh), which all slots of this account share.

# When this keeper last looked for the sampler, in hundredths of a second.
sampler_seen_at=''

# Called before each job. Between short jobs it only compares two numbers.
ensure_sampler() {
  [ -z "$sampler_seen_at" ] || [ $((begun - sampler_seen_at)) -ge 200 ] || return 0
  sampler_seen_at=$begun
  is_dead "$base/sampler@$host" && command -v awk >/dev/null || return 0
  # Twice a child: this keeper would not notice its end. Without descriptor 4, which holds the claim of this slot.
  (close_pipes && exec 4<&- && setsid sh "$spool/sampler.sh" "$spool" </dev/null >/dev/null 2>&1 &)
}

# Called when this loop ends, so that the sampler need not wait to find out.
wake_sampler() {
  ! is_live "$base/sampler@$host" || kill -USR1 "$live_pid" 2>/dev/null
}

# Adds to $facts what was measured of the current job. A job that was too short has nothing.
add_footprint() {
  [ -e "$mine/peak" ] || return 0
  measured='' peak_mb='' peak_gpu='' peak_cpu=''
  { read -r measured peak_mb peak_gpu peak_cpu <"$mine/peak"; } 2>/dev/null && [ "$measured" = "$key" ] || return 0
  add_fact mem "$peak_mb"
  add_fact gpu "$peak_gpu"
  add_fact cpu "$peak_cpu"
}

# add_fact NAME VALUE
add_fact() {
  case $2 in '' | *[!0-9]*) ;; *) facts="$facts $1=$2" ;; esac
}
