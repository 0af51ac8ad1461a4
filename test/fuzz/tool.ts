import path from 'node:path';
import { installPythonTools } from '../../clients/python-tools.ts';
import { readConfig } from '../../src/config.ts';

/** Schemathesis, in a Python environment of its own below `directory`. */
export async function installSchemathesis(directory: string, report: (line: string) => void): Promise<string> {
  report('Installing Schemathesis, unless it is there ...');
  const python = await installPythonTools(path.join(directory, 'fuzz-venv'), 'test/fuzz/requirements.txt');
  return path.join(path.dirname(python), 'schemathesis');
}

// Before it is needed, beside other work.
if (import.meta.main) await installSchemathesis(readConfig().directory, () => undefined);
