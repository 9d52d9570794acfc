// nft-text.mjs   reads the text `nft list ruleset` prints (any version from 1.0.1 on, or another program's text of that form).
//   parse(text)  -> [{ family, table, comment, objects: [{ kind, name, props: [...], elements: [...] | null, rules: [...] | null }] }]
//   record(text) -> the tables named kube-proxy as text again, in a fixed order, without what differs from run to run
//   facts(text)  -> { lines: [...sorted comparable lines], order: Map(chain -> its rules, in order) }
// Left out: counters, handles, elements of sets with a timeout (affinity: made by traffic), service chains without rules
// (stale ones wait for the next sync to be deleted), tables of other names.
const strings = (s, f) =>
  s
    .split(/("(?:[^"\\]|\\.)*")/)
    .map((p, i) => (i % 2 ? p : f(p)))
    .join(''); // f on all but quoted text
const tidy = (s) => strings(s.trim(), (p) => p.replace(/\s+/g, ' ')).trim();
const split = (s, c) => {
  const out = [''];
  let d = 0,
    q = false;
  for (let i = 0; i < s.length; i++) {
    const x = s[i];
    if (x === '"' && s[i - 1] !== '\\') q = !q;
    if (!q) {
      if ('{('.includes(x)) d++;
      else if ('})'.includes(x)) d--;
      else if (x === c && d === 0) {
        out.push('');
        continue;
      }
    }
    out[out.length - 1] += x;
  }
  return out.map(tidy).filter(Boolean);
};
// statements of a block: split at newlines and semicolons outside braces and quotes; "head { body }" stays one statement
function statements(s) {
  const out = [''];
  let d = 0,
    q = false,
    hash = false;
  for (let i = 0; i < s.length; i++) {
    const x = s[i];
    if (hash) {
      if (x !== '\n') continue;
      hash = false;
    }
    if (x === '"' && s[i - 1] !== '\\') q = !q;
    if (!q) {
      if (x === '#') {
        hash = true;
        continue;
      }
      if (x === '{') d++;
      if (x === '}') d--;
      if ((x === '\n' || x === ';') && d === 0) {
        out.push('');
        continue;
      }
    }
    out[out.length - 1] += x;
  }
  return out.map((x) => x.trim()).filter(Boolean);
}
const block = (st) => {
  const at = st.indexOf('{'),
    quote = st.indexOf('"');
  if (at < 0 || (quote >= 0 && quote < at) || !st.endsWith('}')) return null;
  return [st.slice(0, at).trim(), st.slice(at + 1, -1)];
};
export function parse(text) {
  const tables = [];
  for (const st of statements(text)) {
    const b = block(st);
    const h = b?.[0].split(/\s+/);
    if (h?.[0] !== 'table') continue;
    const [, family, table] = h.length > 2 ? h : ['', 'ip', h[1]];
    const t = { family, table, comment: null, objects: [] };
    tables.push(t);
    for (const s of statements(b[1])) {
      const o = block(s),
        w = o?.[0].split(/\s+/);
      if (!o || !/^(set|map|chain|counter|quota|limit|flowtable|ct)$/.test(w[0])) {
        const c = s.match(/^comment (".*")$/);
        if (c) t.comment = c[1];
        continue;
      }
      const x = {
        kind: w[0],
        name: w[1],
        props: [],
        elements: w[0] === 'set' || w[0] === 'map' ? [] : null,
        rules: w[0] === 'chain' ? [] : null,
      };
      t.objects.push(x);
      for (const p of statements(o[1])) {
        const e = p.match(/^elements\s*=\s*\{([\s\S]*)\}$/);
        if (e) x.elements.push(...split(e[1], ','));
        else if (x.kind === 'chain' && !/^(type|policy|comment)\b/.test(p)) x.rules.push(tidy(p));
        else x.props.push(tidy(p));
      }
    }
  }
  return tables;
}
const volatile = (s) =>
  strings(s, (p) => p.replace(/ ?counter packets \d+ bytes \d+/g, '').replace(/ # handle \d+/g, ''));
const elementOf = (e) =>
  volatile(e)
    .replace(/ (timeout|expires) [0-9a-z]+/g, '')
    .trim();
const dynamic = (o) => o.props.some((p) => /^flags .*(timeout|dynamic)/.test(p));
const dead = (o) =>
  o.kind === 'chain' && o.name.includes('/') && !o.rules.length && !o.props.some((p) => p.startsWith('type'));
const rank = { set: 0, map: 1, chain: 3 },
  by = (f) => (a, b) => (f(a) < f(b) ? -1 : f(a) > f(b) ? 1 : 0);
const key = (o) =>
  `${rank[o.kind] ?? 2}${o.kind} ${o.kind === 'chain' && o.name.includes('/') ? 1 : 0}${o.name}`;
const ours = (text) =>
  parse(text)
    .filter((t) => t.table === 'kube-proxy')
    .sort(by((t) => t.family));
export function record(text) {
  const out = [];
  for (const t of ours(text)) {
    out.push(`table ${t.family} ${t.table} {`);
    if (t.comment) out.push(`\tcomment ${t.comment}`);
    for (const o of t.objects.filter((o) => !dead(o)).sort(by(key))) {
      out.push(
        `\t${o.kind} ${o.name} {`,
        ...o.props
          .filter((p) => !/^policy/.test(p))
          .map(
            (p) =>
              `\t\t${p}${/^type .* hook /.test(p) ? `; ${o.props.find((q) => /^policy/.test(q)) ?? 'policy accept'};` : ''}`,
          ),
      );
      if (o.elements?.length && !dynamic(o))
        out.push(
          '\t\telements = {',
          o.elements
            .map((e) => `\t\t\t${elementOf(e)}`)
            .sort()
            .join(',\n'),
          '\t\t}',
        );
      for (const r of o.rules ?? []) out.push(`\t\t${volatile(r)}`);
      out.push('\t}');
    }
    out.push('}');
  }
  return out;
}
// one spelling for what versions of nft print differently
const NUM = { raw: -300, mangle: -150, dstnat: -100, filter: 0, security: 50, srcnat: 100 };
const seconds = (t) => {
  let n = 0;
  for (const m of t.matchAll(/(\d+)(ms|d|h|m|s)/g))
    n += m[1] * { d: 86400, h: 3600, m: 60, s: 1, ms: 0.001 }[m[2]];
  return /^\d+$/.test(t) ? +t : n;
};
function propOf(p) {
  const h = p.match(/^type (\w+) hook (\w+)(?: device \S+)? priority (.*)$/);
  if (h) {
    const m = h[3].match(/^(-?\w+)(?: ?([+-]) ?(\d+))?$/),
      base = m && (m[1] in NUM ? NUM[m[1]] : +m[1]);
    return `type ${h[1]} hook ${h[2]} priority ${m ? base + (m[2] ? +(m[2] + m[3]) : 0) : h[3]}`;
  }
  if (p.startsWith('flags '))
    return (
      'flags ' +
      p
        .slice(6)
        .split(/\s*,\s*/)
        .sort()
        .join(',')
    );
  if (/^(timeout|gc-interval) /.test(p)) {
    const [a, b] = p.split(' ');
    return `${a} ${seconds(b)}s`;
  }
  return p;
}
const inner = (s, f) => {
  let out = '',
    d = 0,
    q = false,
    at = 0;
  for (let i = 0; i < s.length; i++) {
    const x = s[i];
    if (x === '"' && s[i - 1] !== '\\') q = !q;
    if (q) {
      if (!d) out += x;
      continue;
    }
    if (x === '{') {
      if (!d++) {
        at = i + 1;
        continue;
      }
    } else if (x === '}') {
      if (!--d) {
        out += f(s.slice(at, i));
        continue;
      }
    }
    if (!d) out += x;
  }
  return out;
};
const ruleOf = (r) =>
  inner(volatile(r), (b) => `{ ${split(b, ',').map(elementOf).map(tidy).sort().join(', ')} }`).replace(
    /\{ ([^{},:]+) \}/g,
    (m, one) => (/@\S+ $/.test(r.slice(0, Math.max(0, r.indexOf(m)))) ? m : `{ ${one} }`),
  );
const ruleText = (r) =>
  strings(ruleOf(r), (p) =>
    p
      .replace(/0x([0-9a-f]+)/gi, (_m, h) => `0x${h.toLowerCase().replace(/^0+(?=.)/, '')}`)
      .replace(/!= 0x0\b/g, '!= 0')
      .replace(/(^| )(?:meta )?mark\b/g, '$1meta mark')
      .replace(/\b(and|or|xor)\b/g, (m) => ({ and: '&', or: '|', xor: '^' })[m])
      .replace(/dnat (ip6?) addr \. port to /, 'dnat $1 to ')
      .replace(/dnat (?:ip6? )?to (?=[\d[])/, 'dnat to ')
      .replace(/\b(daddr|saddr) (!= )?(\{) ([^ ,{}]+) \}/g, '$1 $2$4')
      .replace(/reject with icmp(?:v6|x)?(?: type)? port-unreachable/, 'reject')
      .replace(/ ,/g, ','),
  )
    .replace(/\s+/g, ' ')
    .trim();
function elementText(e) {
  let c = '';
  const s = elementOf(e).replace(/ comment ("(?:[^"\\]|\\.)*")/, (_m, x) => {
    c = ` comment ${x}`;
    return '';
  });
  return s.replace(/\s*:\s*(?=(goto|jump|drop|accept|return|continue)\b)/, ' : ') + c;
}
export function facts(text) {
  const lines = [],
    order = new Map();
  for (const t of ours(text)) {
    const T = `${t.family}`;
    lines.push(`table ${T}${t.comment ? ` comment ${t.comment}` : ''}`);
    for (const o of t.objects) {
      if (dead(o)) continue;
      const N = `${T} ${o.kind} ${o.name}`;
      lines.push(N);
      for (const p of o.props) if (!/^policy accept$/.test(p)) lines.push(`${N}: ${propOf(p)}`);
      if (o.elements && !dynamic(o)) for (const e of o.elements) lines.push(`${N} element ${elementText(e)}`);
      if (o.rules) {
        const rs = o.rules.map(ruleText);
        for (const r of rs) lines.push(`${N}: ${r}`);
        order.set(N, rs.join('\n'));
      }
    }
  }
  return { lines: lines.sort(), order };
}
