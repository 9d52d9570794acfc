// The recordings with several steps or health checks, with an API server; `npm test -- --only oracle-api` runs all.
// Needs: ipvs, dummy device
import { judgeOnApi } from '../support/oracle/judgeOnApi.js';
import { scenarios } from '../support/oracle/oracle.js';
import { recordedHealth } from '../support/oracle/recordedHealth.js';

judgeOnApi(
  scenarios('ipvs').filter(
    ({ steps }) => steps.length > 1 || steps.some((step) => recordedHealth(step).length > 0),
  ),
);
