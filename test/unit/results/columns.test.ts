import { expect, test } from "vitest";
import { cellOf } from "../../../src/model/result.js";
import { columnsOf, findColumn } from "../../../src/results/columns.js";
import { sortRows } from "../../../src/results/sort-rows.js";
import { aRow } from "./a-row.js";

test("parameters come before metrics, and column names are unique", () => {
  const rows = [
    aRow({ parameters: { lr: "0.1" }, metrics: { acc: 1, lr: 0.1 } }),
    aRow({ parameters: { state: "x" }, metrics: { "lr (metric)": 2, state: 3 } }),
  ];
  const { columns } = columnsOf(rows);
  const labels = columns.map(({ label }) => label);
  expect(labels).toEqual([
    "job",
    "state",
    "failure",
    "lr",
    "state (parameter)",
    "acc",
    "lr (metric)",
    "lr (metric) (metric)",
    "state (metric)",
    "seconds",
    "cpu_seconds",
    "memory_mb",
    "gpu_memory_mb",
    "machine",
    "slot",
    "attempt",
    "command",
  ]);
  const [first, second] = rows.map((row) => columns.map((column) => cellOf(row, column)));
  expect(first).toEqual([
    1,
    "succeeded",
    null,
    "0.1",
    null,
    1,
    0.1,
    null,
    null,
    1.5,
    null,
    null,
    null,
    "gpu1",
    0,
    1,
    "train 1",
  ]);
  expect(second?.slice(3, 9)).toEqual([null, "x", null, null, 2, 3]);
});

test("a job whose line has moved is shown by the number of its name, not by its id", () => {
  const [column] = columnsOf([]).columns;
  expect(column && cellOf(aRow({ job: 5, name: "train.sh.2", line: 2 }), column)).toBe(2);
});

test("if each job invents names, the columns are limited and the rest is counted", () => {
  const rows = Array.from({ length: 103 }, (_, index) => aRow({ metrics: { [`m${index}`]: index } }));
  expect(columnsOf(rows)).toMatchObject({ columns: { length: 111 }, leftOut: 3 });
});

test("an unknown column is an error that lists the known ones", () => {
  const { columns } = columnsOf([aRow({ parameters: { lr: "1" }, metrics: { acc: 1, loss: 2 } })]);
  expect(() => findColumn(columns, "accuracy")).toThrow(
    expect.objectContaining({
      message: "there is no column accuracy",
      hint: "there are the metrics acc, loss, and job, state, failure, lr, seconds, cpu_seconds, memory_mb, gpu_memory_mb, machine, slot, attempt",
    }),
  );
  const none = columnsOf([aRow()]).columns;
  expect(() => findColumn(none, "constructor")).toThrow(
    expect.objectContaining({
      hint: "no job has left a metric; there are job, state, failure, seconds, cpu_seconds, memory_mb, gpu_memory_mb, machine, slot, attempt",
    }),
  );
});

test("numbers are sorted as numbers, in both directions; texts come after them, and empty cells last", () => {
  const values = ["10", "9", "nan", null, "1e-3", "b", "-1"];
  const rows = values.map((lr, index) =>
    aRow({ job: index + 1, ...(lr !== null && { parameters: { lr } }), metrics: { acc: index % 2 } }),
  );
  const { columns } = columnsOf(rows);
  const sorted = (name: string, isDescending: boolean) =>
    sortRows(rows, { column: findColumn(columns, name), isDescending });
  const lrs = (isDescending: boolean) =>
    sorted("lr", isDescending).map(({ parameters }) => parameters.get("lr") ?? null);
  expect(lrs(false)).toEqual(["-1", "1e-3", "9", "10", "b", "nan", null]);
  expect(lrs(true)).toEqual(["10", "9", "1e-3", "-1", "nan", "b", null]);
  expect(sorted("acc", true).map(({ line }) => line)).toEqual([2, 4, 6, 1, 3, 5, 7]);
});
