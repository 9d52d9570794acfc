// A document against the schema of CycloneDX 1.6, as its authors publish it.
import { createRequire } from 'node:module';
import { prepared } from '../paths.js';

/** What this uses of `@cyclonedx/cyclonedx-library`, which is not among the dependencies of the checkout. */
interface Library {
  readonly Spec: { readonly Version: { readonly v1dot6: string } };
  readonly Validation: {
    readonly JsonStrictValidator: new (version: string) => { validate(text: string): Promise<unknown> };
  };
}

const require = createRequire(prepared('cyclonedx/package.json'));

/** What breaks the schema, fields that it does not know included; null if nothing does. */
export function invalidInCycloneDx(text: string): Promise<unknown> {
  const { Spec, Validation } = require('@cyclonedx/cyclonedx-library') as Library;
  return new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
}
