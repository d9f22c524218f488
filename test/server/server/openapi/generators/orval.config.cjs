const mutator = { path: './orval-fetch.ts', name: 'orvalFetch' }
const output = {
  target: './generated/orval/client.ts',
  client: 'fetch',
  mode: 'single',
  override: { mutator },
}

module.exports = { holdfast: { input: './openapi.json', output } }
