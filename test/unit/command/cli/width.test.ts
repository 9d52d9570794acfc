// The width of texts for people: no line is longer than the columns of the output, unless it is one word.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import stringWidth from 'string-width';
import { fittedTable } from '../../../../bench/cli/fittedTable.js';
import { reportLines, targetLines } from '../../../../bench/cli/text.js';
import { readReports } from '../../../../bench/output/readReport.js';
import { type CheckedProblem, checkLines } from '../../../../src/command/cli/check/report.js';
import { COMMANDS } from '../../../../src/command/cli/definitions.js';
import { diffLines, diffReport } from '../../../../src/command/cli/diff.js';
import { explanationLines } from '../../../../src/command/cli/explain/text.js';
import { namedTable } from '../../../../src/command/cli/output/namedTable.js';
import { columnsOf } from '../../../../src/command/cli/output/output.js';
import { tableLines } from '../../../../src/command/cli/output/table.js';
import { planLines } from '../../../../src/command/cli/plan.js';
import { readCommand } from '../../../../src/command/cli/program.js';
import { frontendsInventory } from '../../../../src/command/cli/services/frontendsInventory.js';
import { namesOf } from '../../../../src/command/cli/services/names.js';
import { ipvsInventory } from '../../../../src/command/cli/services/openInventory.js';
import { showTop } from '../../../../src/command/cli/services/top.js';
import { statusLines, statusReport } from '../../../../src/command/cli/status/report.js';
import { helpText, usageText } from '../../../../src/command/config/help.js';
import { wrapped } from '../../../../src/command/config/wrap.js';
import type { ProgrammedFrontend } from '../../../../src/command/explain/inventory.js';
import { explainPacket } from '../../../../src/command/explain/iptables/explainPacket.js';
import { FakeIpvs } from '../../../../src/kernel/testing/ipvs.js';
import { IPTABLES_DEFAULTS } from '../../../../src/proxy/modes/iptables/plan/options.js';
import type { PlannedOperation } from '../../../../src/proxy/reconcile/plannedOperation.js';
import { factsOf, recordedPorts, recordedRules } from '../../../support/oracle/iptablesNode.js';
import { scenarios } from '../../../support/oracle/oracle.js';
import { ROOT } from '../../../support/paths.js';

const WIDTHS = [80, 70, 132];

/** The module of the output of processes. */
const OUTPUT = join(ROOT, 'dist/src/command/cli/output/output.js');

function assertFits(lines: readonly string[], columns: number): void {
  assert.ok(lines.length > 0);
  const long = lines.filter((line) => stringWidth(line) > columns && line.trim().includes(' '));
  assert.deepEqual(long, [], `more than ${columns} columns`);
}

const plain = (_: string, text: string) => text;

describe('no line is too long', () => {
  it('of the help of the agent, and of each command', () => {
    assertFits(usageText().split('\n'), 80);
    for (const columns of WIDTHS) {
      assertFits(helpText(COMMANDS, columns).split('\n'), columns);
      for (const { name } of COMMANDS) {
        const reading = readCommand([name, '--help'], columns);
        assert.ok('help' in reading);
        assertFits(reading.help.split('\n'), columns);
      }
    }
  });

  it('of an explanation', async () => {
    let shown = 0;
    for (const scenario of scenarios('iptables').slice(0, 6)) {
      for (const { family, frontends, protocol } of await recordedPorts(scenario.folder)) {
        const facts = factsOf(scenario, family, recordedRules(scenario.folder, family));
        for (const { address, port } of frontends.filter((each) => each.address !== '')) {
          const explanation = explainPacket(
            facts,
            { address, port, protocol, from: 'node' },
            IPTABLES_DEFAULTS,
          );
          const owner = {
            service: 'demo/web',
            portName: 'http',
            reason: 'none of its endpoints is ready '.repeat(9),
          };
          for (const columns of WIDTHS) assertFits(explanationLines(explanation, owner, columns), columns);
          shown += 1;
        }
      }
    }
    assert.ok(shown > 10, `${shown} explanations`);
  });

  it('of the tables of a benchmark', () => {
    const path = join(ROOT, 'docs/benchmarks/report.json');
    const [report] = readReports(readFileSync(path, 'utf8'), path);
    assert.ok(report);
    for (const columns of WIDTHS) {
      for (const wide of [false, true]) assertFits(reportLines(report, wide, plain, columns), columns);
      assertFits(targetLines(report.targets, plain, columns), columns);
    }
  });
});

/** A layout of these columns. */
const layoutOf = (columns: number, wide = false) => ({ wide, columns, style: plain });

const LONG_NAME = `${'long-namespace-'.repeat(4)}a/${'long-service-'.repeat(4)}b`;
const WORDS = 'must be one of many words, which need more than one line of each width '.repeat(3).trim();

describe('no line is too long of', () => {
  const operation: PlannedOperation = {
    ...{ phase: 'addRules', key: `rule ${WORDS}`, node: false, state: 'different' },
    services: [LONG_NAME, 'demo/web', 'demo/api', 'demo/other'],
    lines: [`    + -A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "${WORDS}" -j KUBE-SVC-A`],
  };
  const found = { operations: [operation], unread: Array.from({ length: 9 }, (_, i) => `file-${i}.yaml`) };

  it('plan and diff, also without operations', () => {
    for (const columns of WIDTHS) {
      for (const operations of [found.operations, []]) {
        assertFits(planLines({ ...found, operations }, layoutOf(columns)), columns);
        assertFits(diffLines(diffReport({ ...found, operations }), layoutOf(columns)), columns);
      }
    }
    const shown = (lines: readonly string[]) => lines.join(' ').replace(/ +/g, ' ');
    for (const text of [WORDS, 'Services ', 'file-8.yaml'])
      assert.ok(shown(planLines(found, layoutOf(80))).includes(text), text);
  });

  it('status', () => {
    const failure = { item: 'k', services: [LONG_NAME, 'demo/web'], fields: [], code: 'E', message: WORDS };
    const agent = {
      ...{
        version: '0.1.0',
        node: 'node-a.a-long-domain.example',
        mode: 'iptables',
        families: [4, 6] as const,
      },
      ...{
        startedAt: '2026-01-01T00:00:00Z',
        kernelError: WORDS,
        repaired: 1234,
        repeated: 1234,
        draining: 3,
      },
      formerModes: [{ mode: 'ipvs', connections: 1, error: WORDS }],
      ...{ leftOut: 1, problems: [WORDS] },
      lastPass: {
        ...{ endedAt: '2026-01-01T00:00:00Z', full: true, services: 10_000, operations: 1_234_567 },
        ...{
          waitMilliseconds: 12_345.6,
          planMilliseconds: 12_345.6,
          kernelMilliseconds: 12_345.6,
          failed: 1,
          unknown: 1,
        },
        failures: [failure],
      },
    };
    const report = statusReport({ healthy: false, nodeEligible: true, unread: ['a.yaml', 'b.yaml'] }, agent);
    for (const columns of WIDTHS)
      assertFits(statusLines(report, Date.parse('2026-01-02T00:00:00Z'), layoutOf(columns)), columns);
  });

  it('check', () => {
    const problem: CheckedProblem = {
      ...{ file: 'config.conf', object: 'KubeProxyConfiguration', field: 'ipvs.scheduler', level: 'error' },
      ...{ rule: WORDS, value: 'a value' },
    };
    const files = Array.from({ length: 20 }, (_, i) => `file-${i}.yaml`);
    const report = {
      files,
      unreadable: files,
      problems: [problem, { ...problem, level: 'warning' as const }],
    };
    for (const columns of WIDTHS) assertFits(checkLines(report, layoutOf(columns)), columns);
  });

  it('services and top, with virtual services and with rules', async () => {
    const addresses = ['10.96.0.80', 'fd00:10:96:1234:5678:9abc:def0:1234'];
    const names = (name: string) =>
      namesOf(
        { source: 'agent' },
        addresses.map((address) => ({
          ...{ service: name, portName: 'http', kind: 'clusterIP', address, port: 30_080, protocol: 'tcp' },
          family: address.includes(':') ? 6 : 4,
        })),
      );
    const ipvs = new FakeIpvs();
    const counters = { connections: 123_456, bytes: 123_456_789 };
    const frontends: ProgrammedFrontend[] = [];
    for (const address of addresses) {
      const id = { address, port: 30_080, protocol: 'tcp' } as const;
      const settings = { scheduler: 'wlc', schedulerFlags: [], onePacket: false };
      await ipvs.add({ ...id, ...settings });
      const endpoint = { address: address.replace('96', '244'), port: 18_080 };
      const limits = { weight: 65_535, upperThreshold: 0, lowerThreshold: 0 };
      await ipvs.addRealServer(id, { ...endpoint, ...limits, forwarding: 'masquerade' });
      const chain = { persistence: 0, chain: 'KUBE-SVC-ABCDEFGHIJKLMNOP', counters };
      const endpoints = [{ ...endpoint, share: 1, chain: 'KUBE-SEP-ABCDEFGHIJKLMNOP', counters }];
      frontends.push({ ...id, ...chain, family: address.includes(':') ? 6 : 4, endpoints });
    }
    for (const name of ['demo/web', LONG_NAME]) {
      const inventories = [
        ipvsInventory(ipvs, names(name), []).report(
          { before: undefined, after: await ipvs.list(), interval: 0 },
          'name',
        ),
        frontendsInventory(async () => frontends, names(name), []).report(
          { before: undefined, after: frontends, interval: 0 },
          'name',
        ),
      ];
      for (const report of inventories) {
        for (const columns of WIDTHS) {
          const lines = report.lines({ ...layoutOf(columns), realServers: true });
          assertFits(lines, columns);
          for (const text of [name, ...addresses, 'CONN/S']) assert.ok(lines.join('\n').includes(text), text);
          // On a screen, each row has one line, and its numbers are not cut.
          const rows = report.lines({ ...layoutOf(columns), realServers: false, cutsNames: true });
          assert.equal(rows.length, 1 + addresses.length);
          if (columns > 80) assertFits(rows, columns);
        }
        const [headings = ''] = report.lines({
          ...layoutOf(Number.POSITIVE_INFINITY, true),
          realServers: true,
        });
        assert.match(headings, /^SERVICE .*CONN\/S .*(FORWARDING|CHAIN)$/);
      }
    }
    let text = '';
    const write = (part: string) => {
      text += part;
    };
    const inventory = ipvsInventory(ipvs, names(LONG_NAME), []);
    const top = { inventory, interval: 0.001, order: 'inactive', count: 1 } as const;
    const output = { format: 'text', columns: 70, style: plain, write, note() {} } as const;
    await showTop(top, { output });
    assertFits(text.split('\n'), 70);
  });

  it('a note on standard error', () => {
    const run = spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { processOutput } from ${JSON.stringify(OUTPUT)};
        processOutput('json').note(${JSON.stringify(WORDS)});`,
      ],
      { encoding: 'utf8' },
    );
    assert.equal(run.status, 0, run.stderr);
    const lines = run.stderr.trimEnd().split('\n');
    assert.equal(lines.join('').replace(/ +/g, ' '), WORDS);
    assertFits(lines, 80);
  });
});

it('plan and services have no limit of their rows: one for each endpoint of a large cluster', () => {
  const one: PlannedOperation = {
    ...{ phase: 'addServers', key: 'k', node: false, services: ['demo/web'], state: 'missing' },
    lines: ['+ real server'],
  };
  const operations = Array<PlannedOperation>(300_000).fill(one);
  assert.equal(planLines({ operations, unread: [] }, layoutOf(80)).length, 300_003);
  const table = tableLines([{ title: 'A' }], Array<string[]>(300_000).fill(['x']));
  assert.equal(table.length, 300_001);
});

describe('a table with names that does not fit', () => {
  const columns = [{ title: 'SERVICE' }, { title: 'ADDRESS' }, { title: 'N', align: 'right' }] as const;
  const rows = [
    ['demo/web:http', '10.0.0.1:80', '1'],
    ['', '  -> 10.1.0.1', '22'],
    ['demo/web:http', '10.0.0.2:80', '3'],
    ['demo/x', '10.0.0.3:80', '4'],
  ];

  it('has each name on a line of its own above its rows', () => {
    assert.deepEqual(namedTable(columns, rows, layoutOf(20)), [
      'SERVICE',
      '  ADDRESS         N',
      'demo/web:http',
      '  10.0.0.1:80     1',
      '    -> 10.1.0.1  22',
      '  10.0.0.2:80     3',
      'demo/x',
      '  10.0.0.3:80     4',
    ]);
    assert.equal(namedTable(columns, rows, layoutOf(32))[1], 'demo/web:http  10.0.0.1:80     1');
  });

  it('has its other columns in tables below, with the names and the addresses', () => {
    const more = [...columns, { title: 'BYTES', align: 'right' }] as const;
    assert.deepEqual(
      namedTable(
        more,
        rows.slice(2).map((cells) => [...cells, '123456']),
        layoutOf(20),
      ),
      [
        ...['SERVICE', '  ADDRESS      N', 'demo/web:http', '  10.0.0.2:80  3', 'demo/x', '  10.0.0.3:80  4'],
        '',
        ...['SERVICE', '  ADDRESS       BYTES', 'demo/web:http', '  10.0.0.2:80  123456'],
        ...['demo/x', '  10.0.0.3:80  123456'],
      ],
    );
  });

  it('has shorter names on a screen, on which each row has one line', () => {
    assert.deepEqual(namedTable(columns, rows, { ...layoutOf(27), cutsNames: true }), [
      'SERVICE   ADDRESS         N',
      'demo/we…  10.0.0.1:80     1',
      '            -> 10.1.0.1  22',
      'demo/we…  10.0.0.2:80     3',
      'demo/x    10.0.0.3:80     4',
    ]);
  });
});

describe('a table that does not fit', () => {
  const columns = [{ title: 'NAME' }, { title: 'N', align: 'right' }, { title: 'MET' }] as const;
  const rows = [
    ['a long name of many words', '1', 'yes'],
    ['short', '22', 'not measured: why'],
  ];

  it('has broken cells of text, each painted alone', () => {
    assert.deepEqual(fittedTable(columns, rows, { width: 36 }), [
      'NAME            N  MET',
      'a long name     1  yes',
      'of many words',
      'short          22  not measured: why',
    ]);
    const painted = fittedTable(columns, rows, {
      width: 34,
      paint: (row, column, text) => (row === 1 && column === 2 && text !== '' ? `<${text}>` : text),
    });
    assert.ok(
      painted.some((line) => line.includes('<not measured:')),
      painted.join('\n'),
    );
  });

  it('has its other columns in tables below, with the keys', () => {
    assert.deepEqual(
      fittedTable(
        columns,
        rows.map((row) => row.map((cell) => cell.replaceAll(' ', '-'))),
        { width: 32 },
      ),
      [
        'NAME                        N',
        'a-long-name-of-many-words   1',
        'short                      22',
        '',
        'NAME                       MET',
        'a-long-name-of-many-words  yes',
        'short                      not-measured:-why',
      ],
    );
  });
});

it('lines are broken at spaces, and never at a no-break space', () => {
  assert.deepEqual(wrapped('  one two three', 9, 4), ['  one two', '    three']);
  assert.deepEqual(wrapped('averylongword and', 5, 2), ['averylongword', '  and']);
  assert.deepEqual(wrapped('1\u00a0ms 22\u00a0ms', 6), ['1\u00a0ms', '22\u00a0ms']);
  assert.deepEqual(wrapped('fits  as it is', 20), ['fits  as it is']);
  assert.deepEqual(wrapped('', 20), ['']);
});

it('the columns are those of a terminal, within bounds, and 80 for anything else', () => {
  assert.equal(columnsOf({ isTTY: true, columns: 100 }), 100);
  assert.equal(columnsOf({ isTTY: true, columns: 10 }), 40);
  assert.equal(columnsOf({ isTTY: true, columns: 500 }), 160);
  assert.equal(columnsOf({ isTTY: true, columns: 0 }), 80);
  assert.equal(columnsOf({ isTTY: true }), 80);
  assert.equal(columnsOf({ columns: 120 }), 80);
});
