// The numbers of the service as text for Prometheus.

import type { Health, QueueInfo, QueueMachine } from "./queue-service.js";

interface Measured {
  readonly health: Health;
  readonly queues: readonly QueueInfo[];
  readonly machines: readonly QueueMachine[];
}

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export function formatMetrics(
  { health, queues, machines }: Measured,
  { now, memoryBytes }: { readonly now: number; readonly memoryBytes: number },
): string {
  const perMachine = (measure: (machine: QueueMachine) => number) =>
    machines.map((each) => ({ labels: { queue: each.queue, machine: each.machine }, value: measure(each) }));
  return [
    gauge(
      "sshoal_jobs",
      "Jobs by queue and state; held ones are also among the waiting ones.",
      queues.flatMap(({ name: queue, counts }) =>
        Object.entries(counts).map(([state, value]) => ({ labels: { queue, state }, value })),
      ),
    ),
    gauge(
      "sshoal_queue_paused",
      "1 if the queue starts no jobs.",
      queues.map(({ name: queue, isPaused }) => ({ labels: { queue }, value: Number(isPaused) })),
    ),
    gauge(
      "sshoal_machine_running",
      "Jobs that run, by queue and machine.",
      perMachine(({ running }) => running.length),
    ),
    gauge(
      "sshoal_machine_slots",
      "Slots, by queue and machine.",
      perMachine(({ slots }) => slots),
    ),
    gauge(
      "sshoal_machine_ready",
      "1 if the machine takes jobs.",
      perMachine(({ phase, isDraining }) => Number(phase === "ready" && !isDraining)),
    ),
    counter("sshoal_events_total", "The number of the last event.", [{ value: health.seq }]),
    gauge("sshoal_memory_bytes", "Memory of the service.", [{ value: memoryBytes }]),
    gauge("sshoal_uptime_seconds", "How long the service runs.", [
      { value: Math.max(0, Math.floor((now - health.startedAt) / 1000)) },
    ]),
    gauge("sshoal_refuses_jobs", "1 if no jobs are accepted now, such as with a full disk.", [
      { value: Number(health.refuses !== null) },
    ]),
    gauge("sshoal_info", "1; the version is its label.", [{ labels: { version: health.version }, value: 1 }]),
  ].join("");
}

function gauge(name: string, help: string, samples: readonly Sample[]): string {
  return family("gauge", name, help, samples);
}

function counter(name: string, help: string, samples: readonly Sample[]): string {
  return family("counter", name, help, samples);
}

function family(type: string, name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value }) => `${name}${formatLabels(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function formatLabels(labels: Readonly<Record<string, string>> = {}): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
