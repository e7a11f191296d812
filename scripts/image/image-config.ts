import { appFolder } from './app-files.ts';
import { userId } from './base-files.ts';

/** Command of the health check. It runs in the working folder of the image. */
const healthCheck =
  'fetch(`http://127.0.0.1:${process.env.PARLEY_PORT}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))';

const second = 1_000_000_000;

/**
 * Settings of the image, as in `deploy/Containerfile`. `Healthcheck` is an extension of Docker to the OCI image configuration:
 * Docker uses it, Podman and Kubernetes ignore it.
 */
export const settings = {
  User: `${userId}:${userId}`,
  ExposedPorts: { '8080/tcp': {} },
  Env: [
    'PATH=/opt/parley/bin:/usr/bin:/bin',
    'PARLEY_HOST=0.0.0.0',
    'PARLEY_PORT=8080',
    'PARLEY_DATA=/data',
    'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
  ],
  Entrypoint: ['/opt/parley/bin/parley'],
  Cmd: ['serve'],
  Volumes: { '/data': {} },
  WorkingDir: `/${appFolder}`,
  StopSignal: 'SIGTERM',
  Healthcheck: {
    Test: ['CMD', 'node_modules/.bin/node', '-e', healthCheck],
    Interval: 10 * second,
    Timeout: 3 * second,
    StartPeriod: 20 * second,
  },
};
