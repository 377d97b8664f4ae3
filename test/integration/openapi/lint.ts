/** Two linters for OpenAPI documents, with their recommended rules. Neither needs a network. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

/** Returns every problem that Redocly finds in a document, including warnings. */
export async function lintWithRedocly(document: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

/** Returns every problem that Spectral finds in a document, including hints. */
export async function lintWithSpectral(document: unknown): Promise<string[]> {
  const spectral = new spectralCore.Spectral();
  // Its type requires more than its own ruleset provides.
  spectral.setRuleset({ extends: [[spectralRulesets.oas as RulesetDefinition, 'recommended']] });
  const problems = await spectral.run(JSON.stringify(document));
  return problems.map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`);
}
