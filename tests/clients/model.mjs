// A stand-in on loopback for the four APIs over which clients reach a model. It asks for the scripted tool
// calls, one a turn, then says that it is done. It keeps every request, so that a test sees what the model
// would have seen.
import { createServer } from 'node:http';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

export const kDone = 'ALL-DONE';

const decoders = { gzip: gunzipSync, zstd: zstdDecompressSync };

function eventStream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return (type, fields) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
}

function json(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

// Each: which requests it answers, the tool results that a request shows to the model, and how a turn
// (one call, or the last words) is said. A request without tools is not the conversation: clients have
// titles and the like written by the model. `tools`: those of APIs that do not have them in `tools` alone.
const kApis = [
  { // Anthropic's messages (Claude Code)
    path: /\/v1\/messages(\?|$)/,
    results: (body) =>
      body.messages.flatMap((each) => (Array.isArray(each.content) ? each.content : [])).filter((each) => each.type === 'tool_result'),
    answer(response, body, id, call) {
      const block = call ? { type: 'tool_use', id: `toolu_${id}`, name: call.name, input: call.input } : { type: 'text', text: kDone };
      const end = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null };
      const message = {
        id: `msg_${id}`, type: 'message', role: 'assistant', model: body.model,
        usage: { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
      };
      if (!body.stream) return json(response, { ...message, ...end, content: [block] });
      const say = eventStream(response);
      say('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null } });
      say('content_block_start', { index: 0, content_block: call ? { ...block, input: {} } : { type: 'text', text: '' } });
      say('content_block_delta', {
        index: 0,
        delta: call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) } : { type: 'text_delta', text: kDone },
      });
      say('content_block_stop', { index: 0 });
      say('message_delta', { delta: end, usage: { output_tokens: 1 } });
      say('message_stop', {});
      response.end();
    },
  },
  { // OpenAI's responses (Codex)
    path: /\/responses(\?|$)/,
    results: (body) => body.input.filter((each) => /^(function|custom_tool)_call_output$/.test(each.type)),
    tools: (body) => body.tools ?? body.input.find((each) => each.type === 'additional_tools')?.tools,
    answer(response, body, id, call) {
      const item = call?.text
        ? { type: 'custom_tool_call', id: `ctc_${id}`, call_id: `call_${id}`, name: call.name, input: call.text }
        : call
        ? { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, namespace: call.namespace, name: call.name, arguments: JSON.stringify(call.input) }
        : { type: 'message', id: `msg_${id}`, role: 'assistant', content: [{ type: 'output_text', text: kDone }] };
      const say = eventStream(response);
      say('response.created', { response: { id: `resp_${id}` } });
      say('response.output_item.added', { output_index: 0, item });
      say('response.output_item.done', { output_index: 0, item });
      const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
      say('response.completed', { response: { id: `resp_${id}`, usage } });
      response.end();
    },
  },
  { // OpenAI's chat completions (opencode)
    path: /\/chat\/completions(\?|$)/,
    results: (body) => body.messages.filter((each) => each.role === 'tool'),
    answer(response, body, id, call) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const say = (delta, finish_reason) => {
        const choices = [{ index: 0, delta, finish_reason }];
        const chunk = { id: `chat_${id}`, object: 'chat.completion.chunk', created: 1, model: body.model, choices };
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      };
      const called = call && { name: call.name, arguments: JSON.stringify(call.input) };
      say({ role: 'assistant', ...(call ? { tool_calls: [{ index: 0, id: `call_${id}`, type: 'function', function: called }] } : { content: kDone }) }, null);
      say({}, call ? 'tool_calls' : 'stop');
      response.end('data: [DONE]\n\n');
    },
  },
  { // Google's generateContent (Gemini)
    path: /:(stream)?generateContent(\?|$)/i,
    results: (body) => body.contents.flatMap((each) => each.parts ?? []).filter((each) => each.functionResponse),
    answer(response, body, id, call) {
      const part = call ? { functionCall: { name: call.name, args: call.input } } : { text: kDone };
      const said = {
        candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }, modelVersion: 'stand-in',
      };
      if (!response.req.url.includes('stream')) return json(response, said);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(said)}\n\n`);
    },
  },
];

/**
 * Listens on a port of its own, or at the path `at`. `calls`: what the model asks for, in turn. It says nothing
 * to a result before `patience` is over.
 */
export async function startModel(calls, at) {
  const model = { requests: [], results: [], patience: Promise.resolve() };
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const decode = decoders[request.headers['content-encoding']] ?? ((bytes) => bytes);
    const text = decode(Buffer.concat(parts)).toString();
    model.requests.push({ url: request.url, headers: request.headers, text });
    if (request.headers.upgrade) {
      response.writeHead(426); // what Codex takes for "no WebSocket here" at once
      return response.end();
    }
    const api = kApis.find((each) => each.path.test(request.url));
    if (request.method !== 'POST' || !api) {
      // Counting tokens is asked on a path of its own, in two spellings of the answer.
      if (/count_?tokens/i.test(request.url)) return json(response, { input_tokens: 1, totalTokens: 1 });
      response.writeHead(404);
      return response.end('{}');
    }
    const body = JSON.parse(text);
    const results = api.results(body);
    if (results.length > model.results.length) model.results = results;
    if (results.length > 0) await model.patience;
    api.answer(response, body, model.requests.length, (api.tools ?? ((each) => each.tools))(body)?.length ? calls[results.length] : undefined);
  });
  await new Promise((resolve) => (at ? server.listen(at, resolve) : server.listen(0, '127.0.0.1', resolve)));
  model.port = server.address().port;
  model.url = `http://127.0.0.1:${model.port}`;
  model.close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return model;
}
