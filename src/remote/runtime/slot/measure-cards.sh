# Measures the cards. A question to the driver can take seconds, so all slots of this account share an answer that came at
# most two seconds ago, and was asked for after the last slot had freed room.

# The lines about the machine and its cards for the allocator.
card_lines=''

measure_cards() {
  card_lines=$room_lines
  case $room_lines in *"${newline}card "*) ;; *) return 0 ;; esac
  case $needs in *"${newline}cards "*) ;; *) return 0 ;; esac
  answer_file=$common/.cards
  is_recent || with_lock "$common/.cards.lock" ask_driver
  is_recent || answer_file=/dev/null
  card_lines=$(LC_ALL=C awk -f cards.awk room "$answer_file" 4<&-)
}

# The first line of the answer has the uptimes at which it was asked for and came.
is_recent() {
  uptime_now
  asked_at='' came_at='' asked_boot=''
  { read -r asked_at came_at asked_boot <"$answer_file"; } 2>/dev/null || return 1
  [ "$asked_boot" = "$boot_id" ] && [ $((now - came_at)) -lt 200 ] && [ "$now" -ge "$came_at" ] && [ "$asked_at" -ge "$freed_at" ]
}

# One slot asks, the others wait for its answer.
ask_driver() {
  ! is_recent || return 0
  asked_at=$now
  driver_answer=$(sh cards.sh 2>/dev/null 4<&-)
  uptime_now
  { printf '%s\n' "$asked_at $now $boot_id" "$driver_answer" >"$answer_file.new"; } 2>/dev/null && mv "$answer_file.new" "$answer_file"
}
