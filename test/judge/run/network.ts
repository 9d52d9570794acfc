// The network of a run: the places of the world in namespaces, and a link from node-a to this process, for the API server.
import { execFileSync } from 'node:child_process';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { CLIENT, NODE_A, NODE_B, type Place, type Pod, SHELL } from '../../laboratory/places.js';
import { makeRouter, routeVirtualIPs } from '../../support/packets/packetLab.js';
import { PODS } from '../core/world.js';

/** The address of this process on its link to node-a. */
export const SERVER_ADDRESS = '10.99.0.1';
const NODE_ADDRESS = '10.99.0.2';

/** The pods that can be endpoints, as places. */
export const ENDPOINT_PLACES: readonly Pod[] = PODS.map(({ name, node, ipv4, ipv6 }) => {
  return { name, ipv4, ipv6, node: node === 'node-a' ? NODE_A : NODE_B };
});

/** Where clients send from. The stranger is another address of the client outside. */
export const CLIENT_PLACES: readonly Place[] = [SHELL, NODE_A, CLIENT];

/** Creates the network. Needs root and a network namespace of its own. */
export function openNetwork(): Lab {
  const lab = openLab([SHELL, ...ENDPOINT_PLACES]);
  routeVirtualIPs(lab);
  makeRouter(lab);
  const name = lab.namespace(NODE_A);
  const commands = [
    'link set lo up',
    `link add api type veth peer name api netns ${name}`,
    'link set api up',
    `address add ${SERVER_ADDRESS}/30 dev api`,
  ];
  execFileSync('ip', ['-batch', '-'], { input: `${commands.join('\n')}\n` });
  const inside = ['link set api up', `address add ${NODE_ADDRESS}/30 dev api`];
  execFileSync('ip', ['-n', name, '-batch', '-'], { input: `${inside.join('\n')}\n` });
  // The kernel removes a namespace with its links some time after it was deleted: the next network needs this name before.
  const close = () => {
    execFileSync('ip', ['link', 'delete', 'api']);
    lab.close();
  };
  return { ...lab, close };
}
