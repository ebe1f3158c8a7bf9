#version 460
// An elementwise op of one step: see lib/elementwise.glsl.
#include "lib/elementwise.glsl"
