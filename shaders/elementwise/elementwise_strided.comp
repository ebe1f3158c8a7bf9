#version 460
// Elementwise ops of one or several steps with inputs broadcast in any way: see elementwise/elementwise.glsl.
#define CHAIN
#define STRIDED
#include "elementwise/elementwise.glsl"
