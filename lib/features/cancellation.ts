import { CallCancelled } from '../errors.js'
import type { Feature } from '../method.js'

/** `notifications/cancelled` (basic/utilities/cancellation; from 2026-07-28 basic/patterns/cancellation). What it does not find is no error. */
export const cancellation: Feature = {
  methods: [],
  notifications: [{
    name: 'notifications/cancelled',
    receive (params, inFlight) {
      const reason = typeof params.reason === 'string' ? `The client cancelled the call: ${params.reason.slice(0, 200)}` : 'The client cancelled the call'
      for (const exchange of [...inFlight]) if (exchange.message.id === params.requestId) exchange.cancel(new CallCancelled(reason))
    }
  }]
}
