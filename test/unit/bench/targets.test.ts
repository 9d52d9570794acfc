import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spread } from '../../../bench/statistics.js';
import { TARGETS, targetsOf } from '../../../bench/targets.js';
import type { Figure, MemoryFigure, MethodName, ScenarioName, TargetInput } from '../../../bench/types.js';

describe('targets', () => {
  it('are those of the project', () => {
    const limits = TARGETS.map(
      ({ id, relation, limit, unit }) => `${id} ${relation} ${limit}${unit && ` ${unit}`}`,
    );
    assert.deepEqual(limits, [
      'full-to-raw ≤ 1.25',
      'commands-to-full ≥ 100',
      'batch-modes-to-full ≥ 2',
      'single-to-full ≥ 1.5',
      'endpoint-scaling ≤ 1.2',
      'endpoint-messages = 2',
      'restart-operations = 0',
      'restart-to-raw ≤ 1.5',
      'node-label ≤ 50 ms',
      'first-service ≤ 0.1',
      'event-loop ≤ 20 ms',
      'iptables-endpoint-scaling ≤ 1.2',
      'iptables-endpoint-input = 1',
      'iptables-full ≤ 4300 ms',
      'iptables-full-own ≤ 0.1',
      'nftables-full-to-raw ≤ 1.5',
      'nftables-full-to-nft ≤ 0.25',
      'nftables-endpoint-to-raw ≤ 1.3',
      'nftables-endpoint-to-raw-44125 ≤ 1.3',
      'nftables-service-to-nft ≤ 0.125',
      'nftables-endpoints-to-one ≤ 60',
      'nftables-event-loop ≤ 20 ms',
      'nftables-event-loop-44125 ≤ 20 ms',
      'nftables-resident-5000 ≤ 130 MB',
      'nftables-resident-44125 ≤ 400 MB',
      'scalable-full ≤ 3000 ms',
      'scalable-full-kernel ≤ 1.5',
      'scalable-endpoint-scaling ≤ 1.5',
      'scalable-endpoint ≤ 2 ms',
      'scalable-restart-operations = 0',
      'scalable-restart ≤ 4000 ms',
      'scalable-event-loop ≤ 20 ms',
      'scalable-resident-5000 ≤ 130 MB',
      'scalable-resident-44125 ≤ 400 MB',
      'resident-1000 ≤ 95 MB',
      'resident-5000 ≤ 130 MB',
      'bytes-per-endpoint ≤ 400 B',
      'library-one ≤ 2',
      'library-batch ≤ 1.2',
    ]);
  });

  it('are computed from medians of the same scenario at 10 000 x 10', () => {
    const measured = withFigures([
      figure('full', 'ours', 10_000, [90, 100, 500]),
      figure('full', 'raw', 10_000, [80]),
      figure('full', 'raw', 5000, [1]),
      figure('full', 'execFile', 10_000, [12_000]),
      figure('full', 'toolBatch', 10_000, [150]),
      figure('full', 'single', 10_000, [150]),
    ]);
    assert.deepEqual(resultOf(measured, 'full-to-raw'), [1.25, true]);
    assert.deepEqual(resultOf(measured, 'commands-to-full'), [120, true]);
    assert.deepEqual(resultOf(measured, 'batch-modes-to-full'), [1.5, false]);
    assert.deepEqual(resultOf(measured, 'single-to-full'), [1.5, true]);
  });

  it('of iptables mode compare the part of the process alone', () => {
    const measured = withFigures([
      { ...figure('iptablesEndpointInMemory', 'ours', 10_000, [0.6]), input: 1500 },
      { ...figure('iptablesEndpointInMemory', 'ours', 100, [0.4]), input: 1000 },
      figure('iptablesFull', 'ours', 1000, [2000]),
      figure('iptablesFullInMemory', 'ours', 1000, [100]),
    ]);
    assert.deepEqual(resultOf(measured, 'iptables-endpoint-scaling'), [0.6 / 0.4, false]);
    assert.deepEqual(resultOf(measured, 'iptables-endpoint-input'), [1.5, false]);
    assert.deepEqual(resultOf(measured, 'iptables-full'), [2000, true]);
    assert.deepEqual(resultOf(measured, 'iptables-full-own'), [0.05, true]);
  });

  it('of nftables mode compare CPU times, and have the memory of their mode', () => {
    const withCpu = (scenario: ScenarioName, method: MethodName, cpu: number) => ({
      ...figure(scenario, method, 10_000, [1]),
      cpu: spread([cpu]),
    });
    const size = { services: 5000, endpoints: 10 };
    const measured = {
      ...withFigures([
        { ...withCpu('nftablesFull', 'ours', 4800), longestBlock: 20 },
        withCpu('nftablesFull', 'raw', 3000),
        withCpu('nftablesFull', 'toolBatch', 19_200),
        withCpu('nftablesEndpoint', 'ours', 12),
        withCpu('nftablesEndpoint', 'raw', 10),
        withCpu('nftablesService', 'ours', 11),
        withCpu('nftablesService', 'toolBatch', 80),
        withCpu('nftablesEndpoints', 'ours', 600),
      ]),
      memory: [
        { size, idleResident: 60e6, resident: 90e6 },
        { size, idleResident: 60e6, resident: 131e6, mode: 'nftables' as const },
      ],
    };
    assert.deepEqual(resultOf(measured, 'nftables-full-to-raw'), [1.6, false]);
    assert.deepEqual(resultOf(measured, 'nftables-full-to-nft'), [0.25, true]);
    assert.deepEqual(resultOf(measured, 'nftables-endpoint-to-raw'), [1.2, true]);
    assert.deepEqual(resultOf(measured, 'nftables-service-to-nft'), [11 / 80, false]);
    assert.deepEqual(resultOf(measured, 'nftables-endpoints-to-one'), [50, true]);
    assert.deepEqual(resultOf(measured, 'nftables-event-loop'), [20, true]);
    assert.deepEqual(resultOf(measured, 'nftables-resident-5000'), [131, false]);
    assert.deepEqual(resultOf(measured, 'resident-5000'), [90, true]);
    const reason = 'times in User Mode Linux and QEMU do not count';
    assert.deepEqual(resultOf({ ...measured, native: false }, 'nftables-event-loop'), [reason, undefined]);
  });

  it('of nftables mode have the block, the memory and one endpoint at 44 125 Services too', () => {
    const size = { services: 44_125, endpoints: 10 };
    const measured = {
      ...withFigures([
        { ...figure('nftablesFull', 'ours', 44_125, [1]), longestBlock: 21 },
        { ...figure('nftablesEndpoint', 'ours', 44_125, [1]), cpu: spread([104]) },
        { ...figure('nftablesEndpoint', 'raw', 44_125, [1]), cpu: spread([80]) },
      ]),
      memory: [
        { size, idleResident: 60e6, resident: 300e6, mode: 'nftables' as const, layout: 'scalable' as const },
        { size, idleResident: 60e6, resident: 401e6, mode: 'nftables' as const },
      ],
    };
    assert.deepEqual(resultOf(measured, 'nftables-event-loop-44125'), [21, false]);
    assert.deepEqual(resultOf(measured, 'nftables-endpoint-to-raw-44125'), [1.3, true]);
    assert.deepEqual(resultOf(measured, 'nftables-resident-44125'), [401, false]);
    assert.deepEqual(resultOf(measured, 'scalable-resident-44125'), [300, true]);
    assert.equal(
      resultOf(measured, 'nftables-event-loop')[0],
      'nftablesFull by ours was not measured at 10000 x 10',
    );
    assert.equal(resultOf(measured, 'scalable-resident-5000')[0], 'the memory was not measured at 5000 x 10');
  });

  it('of layout scalable have absolute times at 44 125 x 10, and the part of the kernel', () => {
    const cpuTime = { user: 1400, system: 600, children: 0 };
    const measured = withFigures([
      { ...figure('scalableFull', 'ours', 44_125, [2999, 3001, 3002]), cpuTime, longestBlock: 19 },
      figure('scalableFull', 'ours', 10_000, [1]),
      { ...figure('scalableFull', 'raw', 44_125, [1]), cpu: spread([400]) },
      { ...figure('scalableEndpoint', 'ours', 44_125, [2]), cpu: spread([3]) },
      { ...figure('scalableEndpoint', 'ours', 100, [1]), cpu: spread([1.5]) },
      { ...figure('scalableRestart', 'ours', 44_125, [4000]), operations: 1 },
    ]);
    assert.deepEqual(resultOf(measured, 'scalable-full'), [3001, false]);
    assert.deepEqual(resultOf(measured, 'scalable-full-kernel'), [1.5, true]);
    assert.deepEqual(resultOf(measured, 'scalable-event-loop'), [19, true]);
    assert.deepEqual(resultOf(measured, 'scalable-endpoint-scaling'), [2, false]);
    assert.deepEqual(resultOf(measured, 'scalable-endpoint'), [2, true]);
    assert.deepEqual(resultOf(measured, 'scalable-restart'), [4000, true]);
    assert.deepEqual(resultOf(measured, 'scalable-restart-operations'), [1, false]);
    const reason = 'times in User Mode Linux and QEMU do not count';
    const virtual = { ...measured, native: false };
    assert.deepEqual(resultOf(virtual, 'scalable-full'), [reason, undefined]);
    assert.deepEqual(resultOf(virtual, 'scalable-full-kernel'), [1.5, true]);
    const missing = [{ scenario: 'scalableMemory' as const, reason: 'no command of an agent was given' }];
    assert.equal(
      resultOf({ ...virtual, unavailable: missing }, 'scalable-resident-44125')[0],
      'no command of an agent was given',
    );
  });

  it('compare a change of one endpoint at 10 000 and at 100 Services, and count its messages', () => {
    const measured = withFigures([
      { ...figure('endpoint', 'ours', 10_000, [3]), messages: 3 },
      figure('endpoint', 'ours', 100, [2]),
    ]);
    assert.deepEqual(resultOf(measured, 'endpoint-scaling'), [1.5, false]);
    assert.deepEqual(resultOf(measured, 'endpoint-messages'), [3, false]);
  });

  it('compare a restart with the lists of the same state, and count its operations', () => {
    const measured = withFigures([
      { ...figure('restart', 'ours', 10_000, [14]), operations: 0 },
      figure('restart', 'raw', 10_000, [10]),
    ]);
    assert.deepEqual(resultOf(measured, 'restart-to-raw'), [1.4, true]);
    assert.deepEqual(resultOf(measured, 'restart-operations'), [0, true]);
  });

  it('have the time to the first usable Service as a part of the whole', () => {
    const full = { ...figure('full', 'ours', 10_000, [1000]), firstService: spread([200]) };
    assert.deepEqual(resultOf(withFigures([full]), 'first-service'), [0.2, false]);
  });

  it('take times without a ratio from a real machine, with the kernel in memory where it has no IPVS', () => {
    const figures = [
      figure('nodeLabelInMemory', 'ours', 10_000, [40]),
      { ...figure('fullInMemory', 'ours', 10_000, [900]), longestBlock: 21 },
    ];
    const native = withFigures(figures);
    assert.deepEqual(resultOf(native, 'node-label'), [40, true]);
    assert.deepEqual(resultOf(native, 'event-loop'), [21, false]);
    const kernel = withFigures([...figures, figure('nodeLabel', 'ours', 10_000, [60])]);
    assert.deepEqual(resultOf(kernel, 'node-label'), [60, false]);
    const reason = 'times in User Mode Linux and QEMU do not count';
    assert.deepEqual(resultOf({ ...kernel, native: false }, 'node-label'), [reason, undefined]);
  });

  it('have the memory of the process in MB, and the heap for each endpoint', () => {
    const memory: MemoryFigure[] = [
      { size: { services: 1000, endpoints: 10 }, idleResident: 60e6, resident: 96e6 },
      { size: { services: 5000, endpoints: 10 }, idleResident: 60e6, resident: 80e6 },
    ];
    const heap = { ...figure('fullInMemory', 'ours', 10_000, [900]), heap: 40e6 };
    const measured = { ...withFigures([heap]), memory };
    assert.deepEqual(resultOf(measured, 'resident-1000'), [96, false]);
    assert.deepEqual(resultOf(measured, 'resident-5000'), [80, true]);
    assert.deepEqual(resultOf(measured, 'bytes-per-endpoint'), [400, true]);
  });

  it('take the figures of the library at any size', () => {
    const measured = withFigures([
      figure('oneOperation', 'ours', 10, [30]),
      figure('oneOperation', 'rawSingle', 10, [10]),
      figure('batch', 'ours', 10, [11]),
      figure('batch', 'raw', 10, [10]),
    ]);
    assert.deepEqual(resultOf(measured, 'library-one'), [3, false]);
    assert.deepEqual(resultOf(measured, 'library-batch'), [1.1, true]);
  });

  it('that were not measured have the reason, and are neither met nor missed', () => {
    const reason = 'the kernel has no IPVS';
    const measured = { ...withFigures([]), unavailable: [{ scenario: 'full' as const, reason }] };
    const found = targetsOf(measured).find(({ id }) => id === 'full-to-raw');
    assert.deepEqual(found?.reason, reason);
    assert.equal(found && 'met' in found, false);
    assert.equal(
      resultOf(measured, 'restart-operations')[0],
      'restart by ours was not measured at 10000 x 10',
    );
  });
});

function resultOf(measured: TargetInput, id: string): [number | string | undefined, boolean | undefined] {
  const found = targetsOf(measured).find((target) => target.id === id);
  return [found?.value ?? found?.reason, found?.met];
}

function withFigures(figures: readonly Figure[]): TargetInput {
  return { figures, memory: [], unavailable: [], native: true };
}

function figure(
  scenario: ScenarioName,
  method: MethodName,
  services: number,
  wall: readonly number[],
): Figure {
  return {
    scenario,
    method,
    size: { services, endpoints: 10 },
    operations: 1,
    wall: spread(wall),
    cpu: spread(wall),
    cpuTime: { user: 0, system: 0, children: 0 },
    first: 1,
    parentMemory: 1,
    peakMemory: 1,
    processes: 0,
  };
}
