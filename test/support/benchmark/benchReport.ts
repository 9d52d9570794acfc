// Reports of benchmarks, made up for tests of their output.
import type { BenchReport, Figure, MethodName } from '../../../bench/types.js';

/** A figure of full programming with a median, in ms; the least is its half and the greatest its double. */
export function figure(
  method: MethodName,
  services: number,
  median: number,
  more: Partial<Figure> = {},
): Figure {
  const spread = { min: median / 2, median, max: median * 2, values: [median, median / 2, median * 2] };
  return {
    scenario: 'full',
    method,
    size: { services, endpoints: 10 },
    operations: services * 14,
    wall: spread,
    cpu: spread,
    cpuTime: { user: median / 2, system: median / 2, children: 0 },
    first: median * 3,
    parentMemory: 80e6,
    peakMemory: 90e6,
    processes: 0,
    ...more,
  };
}

/** A report with figures of two sizes. */
export function report(more: Partial<BenchReport> = {}): BenchReport {
  return {
    version: 1,
    started: '2026-01-01T00:00:00Z',
    duration: 75,
    machine: {
      kernel: '6.1.0',
      architecture: 'x64',
      processor: 'Test <CPU> & Co',
      processors: 1,
      memory: 4e9,
      virtualization: 'User Mode Linux',
      node: 'v20.20.0',
      version: '0.1.0',
      tools: { ipset: 'ipset v7.17 | protocol 7' },
    },
    options: {
      sizes: [
        { services: 100, endpoints: 10 },
        { services: 10_000, endpoints: 10 },
      ],
      scenarios: ['full', 'conntrack'],
      methods: ['ours', 'raw', 'execFile'],
      repetitions: 3,
      budget: 60,
      seed: 1,
      sample: 200,
      countSystemCalls: false,
    },
    figures: [
      figure('raw', 100, 8),
      figure('ours', 100, 10, { firstService: { min: 1, median: 1.5, max: 2, values: [1, 2] } }),
      figure('execFile', 100, 2000, { sample: 200, processes: 1400 }),
      figure('raw', 10_000, 800),
      figure('ours', 10_000, 1000, { firstService: { min: 2, median: 3, max: 4, values: [2, 4] } }),
      figure('execFile', 10_000, 200_000, { sample: 200, processes: 140_000 }),
    ],
    memory: [],
    unavailable: [{ scenario: 'conntrack', reason: 'the kernel has no conntrack' }],
    targets: [
      { id: 'full-to-raw', name: 'full programming ÷ raw limit', target: '≤ 1.25', value: 1.25, met: true },
      { id: 'idle', name: 'idle memory', target: '≤ 80 MB', reason: 'it runs only on hardware' },
    ],
    ...more,
  };
}
