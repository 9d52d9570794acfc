// Programs that import the package by its name, and the compiler's errors about each.
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../paths.js';

/** A program of a few lines, whose first ones are the same for all programs of an export. */
export interface Snippet {
  readonly subpath: string;
  readonly text: string;
}

/** The imports and declarations of the programs of each export. */
const PRELUDES: Readonly<Record<string, string>> = {
  ipset: `import type { EntryOf, Ipset, SetDefinition, SetReference, SetType } from 'kube-netlink-proxy/ipset';
    declare const ipset: Ipset;
    const hash = { name: 'a', type: 'hash:ip', family: 4 } as const;`,
  ipvs: `import type { Ipvs } from 'kube-netlink-proxy/ipvs';
    declare const ipvs: Ipvs;
    const web = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;`,
  conntrack: `import { type Conntrack, newFlowOf } from 'kube-netlink-proxy/conntrack';
    declare const conntrack: Conntrack;
    const original = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1, destinationPort: 2 };`,
  rtnetlink: `import { addNamespace, deleteNamespace, type Link, listNamespaces, openRtnetlink, type Route, type Rtnetlink, type Rule, type RuleName, sameAddress, sameRoute } from 'kube-netlink-proxy/rtnetlink';
    declare const rtnetlink: Rtnetlink;
    declare const kind: string;
    declare const link: Link;
    declare const route: Route;
    declare const rule: Rule;`,
  nftables: `import { bytesOf, type Nftables } from 'kube-netlink-proxy/nftables';
    declare const nftables: Nftables;
    const t = { family: 'ip', table: 't' } as const;
    const set = { ...t, name: 's', key: 'ipv4_addr' } as const;
    const map = { ...t, name: 'm', key: 'ipv4_addr', data: 'inet_service' } as const;`,
  netlink: `import { AttributeWriter, linkHeader, type Netlink, netfilterHeader, NLM_F_CREATE, NLM_F_EXCL, openNetlink } from 'kube-netlink-proxy/netlink';
    declare const netlink: Netlink;`,
};

/** The compiler's messages about each program, in the order of the programs. */
export function errorsOf(snippets: readonly Snippet[]): string[][] {
  const texts = new Map(
    snippets.map(({ subpath, text }, i) => [
      join(ROOT, `snippet-${i}.mts`),
      `${PRELUDES[subpath]}\n${text}\n`,
    ]),
  );
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  // Without the folder of the output, the declarations of the package are the compiled ones, as for its users.
  const { tsBuildInfoFile: _, outDir: __, ...rest } = options;
  const compilerOptions: ts.CompilerOptions = {
    ...rest,
    ...{ noEmit: true, incremental: false, rootDir: ROOT, noUnusedLocals: false, noUnusedParameters: false },
  };
  const host = ts.createCompilerHost(compilerOptions);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.getSourceFile = (path, version, ...others) => {
    const text = texts.get(path);
    return text === undefined
      ? getSourceFile.call(host, path, version, ...others)
      : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...texts.keys()], compilerOptions, host);
  return [...texts.keys()].map((path) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
}
