#version 460
// Elementwise ops of one step or several, whose inputs are broadcast in any way: see lib/elementwise.glsl.
#define CHAIN
#define STRIDED
#include "lib/elementwise.glsl"
