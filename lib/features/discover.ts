import type { Feature } from '../method.js'
import { NoParams } from '../schemas/params.js'
import type { Introduction } from './lifecycle.js'

/** What a client of 2026-07-28 may ask first (server/discover). */
export function discover (server: Introduction & { versions: string[], cache: { ttlMs: number, cacheScope: 'public' | 'private' } }): Feature {
  return {
    methods: [{
      name: 'server/discover',
      params: NoParams,
      call: () => ({
        supportedVersions: server.versions,
        capabilities: server.capabilities(true),
        instructions: server.instructions,
        ...server.cache
      })
    }]
  }
}
