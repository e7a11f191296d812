import { type Manner, manners } from './requests.ts';

/** What an nginx configuration of the harness depends on. `isRoot`: workers need a user who may write into the folder. */
export interface NginxSetting {
  folder: string;
  port: number;
  upstreamPorts: Record<Manner, number>;
  isRoot: boolean;
}

const logFields = [
  '$time_iso8601 $remote_addr $request_method $uri $status $request_time $upstream_response_time $upstream_connect_time',
  '$upstream_header_time $upstream_addr $request_length $bytes_sent $project $request_id "$http_user_agent"',
].join(' ');

/** One worker with kept-alive upstreams, a key check, a 15-field log and no buffering of replies. */
export function toNginxConfig({ folder, port, upstreamPorts, isRoot }: NginxSetting): string {
  const all = Object.keys(manners) as Manner[];
  const upstreams = all.map(
    (manner) => `
  upstream ${manners[manner].model} {
    server 127.0.0.1:${upstreamPorts[manner]};
    keepalive 256;
    keepalive_requests 1000000000;
    keepalive_time 24h;
  }`,
  );
  const locations = all.map(
    (manner) => `
    location = /openai/deployments/${manners[manner].model}/chat/completions {
      if ($project = "") { return 401; }
      proxy_pass http://${manners[manner].model}/v1/chat/completions;
    }`,
  );
  return `${isRoot ? 'user root;\n' : ''}daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 16000; }
http {
  log_format full '${logFields}';
  access_log ${folder}/access.log full buffer=64k flush=1s;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_max_body_size 64m;
  client_body_buffer_size 2m;
  gzip off;
  tcp_nodelay on;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  proxy_set_header Authorization "Bearer sk-upstream";
  proxy_set_header Api-Key "";
  proxy_buffering off;
  proxy_buffer_size 16k;
  proxy_buffers 8 16k;
  proxy_read_timeout 1h;
  map $http_api_key $project {
    default "";
    bench-key bench;
  }${upstreams.join('')}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready { access_log off; return 200; }${locations.join('')}
  }
}
`;
}
