import packageJson from '../../package.json' with { type: 'json' };
import { readCommand } from './cli.ts';
import type { CopyDeps } from './commands/backup/run-copy.ts';

// By default, SIGUSR1 makes Node open the debugger for any process of the same user, and SIGUSR2 terminates Node.
for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => undefined);

// Each command loads only the modules that it needs, because the add-in gateway must stay a small process.
const command = readCommand(process.argv.slice(2));
switch (command.name) {
  case 'serve': {
    const { serveCommand } = await import('./workers/serve-command.ts');
    await serveCommand(command.flags, process.env);
    break;
  }
  case 'addin': {
    const { addinCommand } = await import('./commands/addin/addin-command.ts');
    await addinCommand(command.flags, process.env);
    break;
  }
  case 'check': {
    const { checkCommand } = await import('./commands/check-command.ts');
    const { exitCode, lines } = await checkCommand(command.flags.files, process.env, command.flags);
    for (const line of lines) console.log(line);
    process.exitCode = exitCode;
    break;
  }
  case 'import': {
    const { importCommand } = await import('./commands/import/import-command.ts');
    const { exitCode, text, lines } = await importCommand(command.flags);
    for (const line of lines) console.error(line);
    if (text !== '') console.log(text);
    process.exitCode = exitCode;
    break;
  }
  case 'import-openapi': {
    const { importOpenApiCommand } = await import('./commands/import-openapi-command.ts');
    const { exitCode, text, notes } = await importOpenApiCommand(command.flags);
    for (const note of notes) console.error(note);
    console.log(text);
    process.exitCode = exitCode;
    break;
  }
  case 'evaluate': {
    const { evaluateCommand } = await import('./commands/evaluate/evaluate-command.ts');
    const { stderr, env } = process;
    process.exitCode = await evaluateCommand(command.flags, {
      environment: env,
      isTerminal: stderr.isTTY,
      writeProgress: (text) => stderr.write(text),
      show: (line) => console.log(line),
      onInterrupt(cancel) {
        const end = () => void cancel().finally(() => process.exit(130));
        process.removeAllListeners('SIGINT').once('SIGINT', end);
      },
    });
    break;
  }
  case 'apply':
  case 'diff':
  case 'export': {
    const { administrationCommand, readAnswer } = await import('./commands/administration/administration-command.ts');
    process.exitCode = await administrationCommand(command, {
      environment: process.env,
      confirm: process.stdin.isTTY ? readAnswer : undefined,
      report: (line) => console.error(line),
      show: (line) => console.log(line),
    });
    break;
  }
  case 'backup': {
    const { backupCommand } = await import('./commands/backup/backup-command.ts');
    process.exitCode = await backupCommand(command.flags, createCopyDeps());
    break;
  }
  case 'restore': {
    const { restoreCommand } = await import('./commands/backup/restore-command.ts');
    process.exitCode = await restoreCommand(command.flags, createCopyDeps());
    break;
  }
  case 'usage-error':
    console.error(`parley: ${command.message}`);
    process.exitCode = 2;
    break;
  case 'help':
    console.log(command.text);
    break;
  case 'version':
    console.log(packageJson.version);
}

function createCopyDeps(): CopyDeps {
  return {
    environment: process.env,
    report: (line) => console.error(line),
    show: (line) => console.log(line),
    epochMs: Date.now,
  };
}
