import packageJson from '../../package.json' with { type: 'json' };
import { help, readCommand } from './cli.ts';
import { checkCommand } from './configuration/check-command.ts';
import { serve } from './serve.ts';

const command = readCommand(process.argv.slice(2));
switch (command.name) {
  case 'serve':
    await serve(command.flags, process.env);
    break;
  case 'check': {
    const { exitCode, lines } = await checkCommand(command.files, process.env);
    for (const line of lines) console.log(line);
    process.exitCode = exitCode;
    break;
  }
  case 'help':
    console.log(help);
    break;
  case 'version':
    console.log(packageJson.version);
    break;
  case 'mistake':
    console.error(`parley: ${command.message}`);
    process.exitCode = 2;
}
