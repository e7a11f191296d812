import { compatErrorDialect, type ErrorDialect, withNotFound } from '../http/error-dialect.ts';

/** On paths that name the deployment as Azure's do, as Azure says it. */
export const azureErrorDialect = withNotFound('DeploymentNotFound');

/** How whoever asks for a path is spoken to, if paths below these prefixes name deployments as Azure's do. */
export function compatErrorDialectAt(prefixes: readonly string[]): (path: string) => ErrorDialect {
  const isAzure = (path: string): boolean => prefixes.some((prefix) => path.startsWith(`/${prefix}/deployments/`));
  return (path) => (isAzure(path) ? azureErrorDialect : compatErrorDialect);
}
