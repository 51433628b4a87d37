import { expect, test } from "vitest";
import type { Gpu } from "../../../../src/model/machine.js";
import { deviceEnv } from "../../../../src/plan/slots/devices.js";
import { aGpuNeed, aNeed, gpus } from "../a-machine.js";

const slotWith = (cards: readonly Gpu[]) => ({ index: 0, gpus: cards });
const need = aNeed({ gpu: aGpuNeed() });

test("whole cards are named by index, in nvidia-smi's order", () => {
  expect(deviceEnv(slotWith(gpus({ index: 3 }, { index: 1 })), need)).toEqual({
    CUDA_VISIBLE_DEVICES: "1,3",
    CUDA_DEVICE_ORDER: "PCI_BUS_ID",
  });
});

test("a MIG slice is named by its UUID", () => {
  const env = deviceEnv(slotWith(gpus({ index: 0, isMig: true, uuid: "MIG-1" })), need);
  expect(env).toEqual({ CUDA_VISIBLE_DEVICES: "MIG-1", CUDA_DEVICE_ORDER: "PCI_BUS_ID" });
});

test("AMD cards are named by ROCm's variable only", () => {
  expect(deviceEnv(slotWith(gpus({ index: 2, vendor: "amd" })), need)).toEqual({ ROCR_VISIBLE_DEVICES: "2" });
});

test("nothing is hidden from a job that needs no card or has the whole machine", () => {
  expect(deviceEnv(slotWith(gpus({})), { ...need, reservesMachine: true })).toEqual({});
  expect(deviceEnv(slotWith([]), aNeed({ gpu: null }))).toEqual({});
});
