// Hints to the errors of operations: each is true for every cause that the kernel has for the code and the place. Pure.
import type { NftablesOperation } from './types.js';

/** Expressions that name something of the table. The kernel has the code of all others, or misses their module. */
const NAMING: Readonly<Record<string, string>> = {
  lookup: 'set',
  dynset: 'set',
  objref: 'object or map',
  objrefMap: 'map',
  flowOffload: 'flow table',
  verdict: 'chain',
};
/** Modules of expressions. Those that are not here are part of nf_tables, or depend on the family: nft_fib_inet. */
const MODULES: Readonly<Record<string, string>> = {
  ...{ notrack: 'nft_ct', log: 'nft_log, or one that writes logs: nf_log_syslog, nfnetlink_log' },
  ...Object.fromEntries(
    'connlimit ct hash limit masq nat numgen queue quota redir socket tproxy'
      .split(' ')
      .map((kind) => [kind, `nft_${kind}`]),
  ),
};

/**
 * The hint to an error of an operation. `expression` is the kind of the expression that the kernel refused, if it says which one it is.
 */
export function hintFor(operation: NftablesOperation, code: string, expression?: string): string | undefined {
  const isDeletion = operation.do.startsWith('delete');
  switch (code) {
    case 'EBUSY':
      return isDeletion ? 'delete what refers to it before, in the same transaction' : undefined;
    case 'EEXIST':
      return operation.do === 'addElements' ? takenHint(operation) : undefined;
    case 'ENOENT':
      return isDeletion ? undefined : absentHint(operation, expression);
    case 'ERESTART':
      return 'another program has changed the ruleset: read it again';
    default:
      return undefined;
  }
}

function absentHint(operation: NftablesOperation, expression: string | undefined): string | undefined {
  switch (operation.do) {
    case 'addRule':
    case 'insertRule':
    case 'replaceRule':
      return expression === undefined
        ? 'its table, its chain or the rule that it names does not exist, or what its expressions name or need: a set, an object, a chain, a module'
        : expressionHint(expression);
    case 'addChain':
      return operation.chain.base === undefined
        ? 'its table does not exist'
        : 'its table or a device does not exist, or the kernel has no chains of this type';
    case 'flushChain':
      return 'its table or the chain does not exist';
    case 'addSet':
      return 'its table does not exist, or the module of an expression of its elements';
    case 'addElements':
      return 'its table or set does not exist, or a chain or an object that an element names';
    case 'flushSet':
      return 'its table or the set does not exist';
    case 'addFlowTable':
      return 'its table or a device does not exist, or the kernel misses nf_flow_table for the family';
    case 'addObject':
      return 'its table does not exist, or the module of objects of this type';
    default:
      return undefined;
  }
}

function expressionHint(kind: string): string {
  const named = Object.hasOwn(NAMING, kind) ? NAMING[kind] : undefined;
  if (named !== undefined) return `the ${named} that it names does not exist in the table`;
  const module = Object.hasOwn(MODULES, kind) ? ` (${MODULES[kind]})` : '';
  return `the kernel misses the module of the expression ${kind}${module}`;
}

type AddElements = Extract<NftablesOperation, { readonly do: 'addElements' }>;

/** The kernel has one code for a key that is taken, and for an interval that overlaps another one. */
function takenHint({ set: { data, flags = [] }, exclusive }: AddElements): string | undefined {
  const causes: string[] = [];
  if (exclusive === true) causes.push('a key is there already');
  else if (data !== undefined)
    causes.push('a key is there with other data: delete it before, in the same transaction');
  if (flags.includes('interval')) causes.push('an interval overlaps another one');
  return causes.length === 0 ? undefined : causes.join('; or ');
}
