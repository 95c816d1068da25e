import type { LEVELS } from '../schemas/envelope.js'
import { SetLevelParams } from '../schemas/params.js'
import type { Feature } from '../method.js'

/** Log messages for the client (server/utilities/logging). The level is the session's; later revisions send it with each request. */
export const logging: Feature = {
  capability: () => ({ logging: {} }),
  methods: [{
    name: 'logging/setLevel',
    brief: true,
    params: SetLevelParams,
    call (params, exchange) {
      const told = exchange.session?.setLevel(params.level as typeof LEVELS[number])
      return told === undefined ? {} : told.then(() => ({}))
    }
  }]
}
