
FILENAME == "room" {
  if ($1 == "card") { cards[++count] = $0; known[$3] = 1 }
  else if ($1 == "batch") print $1, $2, "-"
  else if ($1 != "cpu" && $1 != "slots") print
  next
}

$1 == "smi-fields" { fields = split($2, field, ","); next }
$1 == "smi" { read_row(substr($0, 5)); next }
$1 == "amd" { read_amd(); next }
$1 == "smi-process" { read_process(substr($0, 13)); next }
$1 == "process" { uid[$2] = $4; lineage[$2] = $5; next }

END {
  for (i = 1; i <= count; i++) {
    $0 = cards[i]
    if ($8 !~ /[tm]/) measure()
    $1 = "gpu"
    print
  }
  for (i = 1; i <= rows; i++) print_process(row_pid[i], row_uuid[i], row_mb[i])
}

function read_row(row, cells, cell, i) {
  cells = split(row, cell, ",")
  if (cells < fields) return
  for (i = 1; i < fields; i++) {
    gsub(/^ +| +$/, "", cell[i])
    value[field[i]] = cell[i]
  }
  if (value["uuid"] in known) {
    free[value["uuid"]] = mb(value["memory.free"])
    use[value["uuid"]] = percent(value["utilization.gpu"])
    if (row ~ /[Ll]ost|[Rr]eset|[Uu]nknown [Ee]rror|ERR!/) bad[value["uuid"]] = 1
  }
}

function read_amd(uuid) {
  uuid = ("GPU-" $7) in known ? "GPU-" $7 : $2
  if (!(uuid in known)) return
  if ($8 == "!" || $9 == "!" || $10 == "!") bad[uuid] = 1
  free[uuid] = $8 ~ /^[0-9]+$/ && $9 ~ /^[0-9]+$/ ? int(($8 - $9) / 1048576) : "-"
  use[uuid] = percent($10)
}

function read_process(row, cell) {
  if (split(row, cell, /, */) < 3 || !(cell[1] in known)) return
  rows++
  row_uuid[rows] = cell[1]
  row_pid[rows] = cell[2] ~ /^[0-9]+$/ ? cell[2] : 0
  row_mb[rows] = mb(cell[3])
}

function measure() {
  if ($8 !~ /s/) $6 = $3 in free ? free[$3] : "-"
  $7 = $3 in use ? use[$3] : "-"
  if ($3 in bad) $8 = ($8 == "-" ? "" : $8) "b"
}

function print_process(pid, uuid, used) {
  print "proc", uuid, used, (pid in uid) ? uid[pid] : "-", (pid in lineage) ? lineage[pid] : "-"
}

function mb(cell) {
  return cell ~ /^[0-9]+$/ ? cell : "-"
}

function percent(cell) {
  return cell ~ /^[0-9]+$/ && cell + 0 <= 100 ? cell * 10 : "-"
}
