/** Two linters for OpenAPI documents, with the rules that they recommend. Neither needs a network. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

const redocly = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js');
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Every problem that `redocly lint` has with a document, warnings too. */
export async function lintWithRedocly(document: unknown): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-lint-'));
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
    await writeFile(join(folder, 'redocly.yaml'), 'extends: [recommended]\n');
    const args = [redocly, 'lint', 'openapi.json', '--format=json'];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, ...quiet },
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: { stdout?: string }) => {
      // It exits with 1 when it has found errors.
      if (!error.stdout) throw error;
      return { stdout: error.stdout };
    });
    const { problems } = JSON.parse(stdout) as {
      problems: { ruleId: string; message: string; location: { pointer?: string }[] }[];
    };
    return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every problem that Spectral has with a document, hints too. */
export async function lintWithSpectral(document: unknown): Promise<string[]> {
  const spectral = new spectralCore.Spectral();
  // Its own type asks for more than there is in its own ruleset.
  spectral.setRuleset({ extends: [[spectralRulesets.oas as RulesetDefinition, 'recommended']] });
  const problems = await spectral.run(JSON.stringify(document));
  return problems.map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`);
}
