import type { FastifyInstance } from 'fastify'
import type { Mcp } from '../types/index.js'

/** The endpoints of an app, whatever scope they are in: the HTTP server is what all scopes share. */
const byServer = new WeakMap<object, Map<string, Mcp>>()

export function addEndpoint (app: FastifyInstance, path: string, mcp: Mcp): void {
  const endpoints = byServer.get(app.server) ?? new Map<string, Mcp>()
  byServer.set(app.server, endpoints.set(path, mcp))
}

export const endpointsOf = (app: FastifyInstance): ReadonlyMap<string, Mcp> => byServer.get(app.server) ?? new Map()
