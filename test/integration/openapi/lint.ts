/** Two linters for OpenAPI documents, with the rules that they recommend. Neither needs a network. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

/** Every problem that Redocly has with a document, warnings too. */
export async function lintWithRedocly(document: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

/** Every problem that Spectral has with a document, hints too. */
export async function lintWithSpectral(document: unknown): Promise<string[]> {
  const spectral = new spectralCore.Spectral();
  // Its own type asks for more than there is in its own ruleset.
  spectral.setRuleset({ extends: [[spectralRulesets.oas as RulesetDefinition, 'recommended']] });
  const problems = await spectral.run(JSON.stringify(document));
  return problems.map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`);
}
