// Each command of docs/troubleshooting.md finds the fault that the page describes.
// Needs: ipvs, dummy device, conntrack, iptables-legacy, curl
import { testPage } from '../support/documents/pageExamples.js';

testPage('ipvs');
