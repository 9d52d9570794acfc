// Every recording, with an API server.
import { judgeOnApi } from '../support/judgeOnApi.js';
import { scenarios } from '../support/oracle.js';

judgeOnApi(scenarios('ipvs'));
